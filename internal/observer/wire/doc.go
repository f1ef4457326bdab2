// Package wire decodes pods and nodes from protobuf, and of them only what is read.
//
// It promises:
//   - What is not on the list of fields (fields.go) is dropped from the message before it is decoded: it never
//     becomes a value. That holds for fields that Kubernetes has still to invent.
//   - What is on the list is decoded as it was.
//   - A message that is not understood is an error, as it would be without this package.
//
// Most of a pod's message is volumes, environment, probes and who manages which field. Leaving them out saves
// half of the work of decoding.
package wire
