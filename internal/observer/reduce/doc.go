// Package reduce is what of a cluster's objects is worth saying: pods, nodes and owners in, facts out; facts
// in, records out.
//
//	object ──OfPod, OfNode, OfObject──> facts ──Look──> View ──> records, nodes, counts
//
// It promises:
//   - It is all functions of values: the same objects give the same records, in whatever order they come.
//   - Facts hold nothing that a record may not say: env, commands, arguments, volumes, annotations and
//     selectors are gone once an object is reduced.
//   - What Kubernetes gives every pod is no fact (defaults.go), nor is what the DaemonSet controller adds.
//   - Bounds hold (bounds.go). What is past one is left out whole, is named in the record's incomplete, and
//     is counted.
//   - A namespace, an owner or a pod that is excluded is counted and never named.
//
// Facts of 10,000 pods are mostly the same strings and the same placements. Strings are interned by package
// unique, and blocks (Block) are made to be shared: whoever keeps facts gives equal ones the same block.
package reduce
