// Package kubeconfig says which cluster is meant, as whom to talk to it, and what an error on the way means. It
// links no client: each program adds what it needs.
//
// Its promises are those of package kubeclient.
package kubeconfig
