// Package sentence says in words what a payload says, for readers who know neither the payload nor Kubernetes'
// objects. It adds nothing: what is not in the payload is not guessed at, and a field that is incomplete is said
// to be.
package sentence
