// Package explain says why a workload is where it is, what stops it from moving, and what would change if
// one rule were gone. Facts in, a report out: whoever calls it has read them from a cluster or from files.
//
// It promises:
//   - All constraints are given, not just the first, each with who is behind it as far as that can be
//     known, the object and field that it comes from, and the engines that it binds.
//   - Whether a pod fits a node is package fit's word, and so the scheduler's. What the report says would
//     change without a rule has been asked of it again, with the rule taken away.
//   - Each reason of each verdict belongs to one of the constraints.
//   - What is merely preferred is never why something can't be. It is listed as soft.
//   - What could not be read is named under not known, and nothing is concluded from its absence: a list
//     that is nil was not read, one that is empty is empty.
//   - Nothing is written to, and nothing is kept that the caller may not write to afterwards.
package explain
