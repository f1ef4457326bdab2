// Package agent hosts the virtual nodes of a devplane: all of them in one process, with one client,
// one watch of pods and one kubelet endpoint.
//
// For the API a virtual node is a node like any other. It registers itself, renews its lease,
// admits pods or rejects them, writes their status, and deletes them when they have ended. What
// runs the pods is a podruntime.Runtime: package process or package scale.
//
// Its promises for a pod:
//
//   - it runs at most once at a time, and never after it was seen terminal or deleted
//   - its status is written until it has arrived, the newest at last; conditions of others are kept
//   - a terminal phase is written only when nothing of it runs any more
//   - it is deleted from the API only after its last status has arrived, by UID
//   - when it disappears from the API it is stopped
//
// A pod's worker, the only one to touch the pod, goes through these states:
//
//	             +--> rejected -------------------------+
//	first seen --+--> running --> ended (all is dead) --+--> final status written --> deleted
//	             +--> ended already --------------------+      (waits for the deletion)
//
// A node can be killed like a machine that loses power: its lease is no longer renewed, its
// processes die at once, no status is written, its endpoint does not answer. Started again, it
// has lost its memory: containers that ran have ended, nobody knows how.
//
// Why not virtual-kubelet: its pod controller deletes a pod when the grace period is over,
// whatever the process does, and its node controller does not update taints and keeps a second
// copy of the status in an annotation. What is left is smaller than what it takes to work around.
package agent
