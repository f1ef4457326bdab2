// Package kubeclient is the one place that builds Kubernetes clients, so that how Berth behaves toward
// an API server is decided once: which cluster, as whom, how fast, under what name, for how long.
//
// It promises:
//   - The cluster is the one that kubectl would take for the same flags and environment, with two
//     exceptions: a kubeconfig that was named, by flag or KUBECONFIG, and is not there is an error and
//     never silently replaced by another; and nothing is written to disk.
//   - An API server's verdict on what was sent is a *Refused, in the API server's own words. All else
//     that comes between is an *Error: one line that says what is wrong, and one that says what to do.
//   - No error holds a secret: a file's content, a token, or a URL with a password in it.
//   - Nothing is logged; warnings of the API server are part of the answer.
package kubeclient
