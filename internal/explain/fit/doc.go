// Package fit says whether a pod fits a node, and every reason why not, in the semantics of
// kube-scheduler v1.37 with its default plugins.
//
// It promises:
//   - All reasons are given, not just the first, in the order in which the scheduler's plugins would
//     find them. No reason, and nothing that is not known, means that the pod fits.
//   - The verdict is the scheduler's. What k8s.io/component-helpers publishes decides what matches, in
//     the way that the scheduler calls it; the rest is held to a real scheduler by a test.
//   - What is merely preferred is no reason: PreferNoSchedule taints, preferred affinity, and
//     spreading with ScheduleAnyway.
//   - What could not be read is not taken for free: the verdict names it.
//   - It decides and acts not: no clock, no I/O, nothing that it is given is written to. Equal input
//     gives equal output, down to the order.
//
// Explain looks at a node with all that is on it and about it, Node only at what pod and node are.
//
// Features that v1.37 has off by default count as on where that lets in no pod that the API server
// would not refuse without them: tolerations with Gt and Lt. Not looked at are plugins that are not the
// default's, extenders, the default spreading, preemption, and volumes of kinds from before CSI against
// attach limits. The allocation of devices is not evaluated, and verdicts that need it say so.
package fit
