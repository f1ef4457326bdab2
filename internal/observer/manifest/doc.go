// Package manifest reads the objects of a cluster from files: manifests, and what kubectl get -o json or -o
// yaml prints.
//
// It promises:
//   - A file means what the API server would take it for. A key that it would leave out, because it is
//     misspelt or has another case, is left out, and is a finding that names the nearest key.
//   - Pods and nodes are read whole. Of namespaces, and of what may own pods, the metadata is read. All else is
//     counted by kind.
//   - No finding and no error quotes a value.
package manifest
