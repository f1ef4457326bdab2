// Package podspec turns a step of a plan into the pod of one of its attempts.
//
// It promises that the pod is what the plan composed, with the facts of the attempt in the places that the
// plan lists and nothing else changed; that a fact or an evaluated text is put in as it is, and never
// looked at again; that what the kubelet would expand in it is written so that it does not; and that the
// plan is not written to.
package podspec
