// Package collect keeps the facts of a cluster, from watches.
//
//	API server ──watch──> object ──reduce──> item ──reflector──> Facts ──View──> records
//
// (Pods and nodes are trimmed before that, where package wire decodes them.)
//
// It promises:
//   - No object is kept. Each is reduced where it is decoded, before anything stores it, in lists and in
//     watches alike.
//   - There is one watch for each resource (and namespace, if only some are watched), which goes on from where
//     it was after an interruption, or begins anew if that is too long ago.
//   - The facts depend on what is in the cluster and not on how one came to know it: after any sequence of
//     events and lists they are those of a fresh list.
//   - Equal placements and equal containers are one block in memory, however many pods have them.
//   - A resource that can't be read stops nothing. Its source says so, since when and why; what was seen of it
//     stays.
//
// Who knows what: client-go's reflector knows how to list, watch, resume and begin anew; this package knows
// what to keep.
package collect
