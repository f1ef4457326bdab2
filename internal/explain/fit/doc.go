// Package fit says whether a pod fits a node by what both are: the node's name, taints, labels and
// size against the pod's tolerations, selectors, required node affinity and requests. What else runs on
// the node, volumes and other pods' rules are not looked at.
//
// It promises:
//   - All reasons why not are given, not just the first, in the order in which the scheduler's plugins
//     would find them. No reason means that the pod fits.
//   - The verdict is the scheduler's: k8s.io/component-helpers decides what matches, in the way that
//     kube-scheduler calls it, and this package only says in words what did not.
//   - What is merely preferred is no reason: PreferNoSchedule taints and preferred affinity.
//   - Of what the node does not tell nothing is concluded: while its status has no allocatable
//     resources, requests are no reason. (The scheduler, which sees a node in that state for moments,
//     takes it for one of size zero.)
package fit
