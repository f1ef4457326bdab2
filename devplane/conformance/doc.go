// Package conformance holds process nodes to what real nodes do.
//
// The table runs each pod on both kinds of node of one cluster and compares the final statuses
// field by field. What may differ is listed in differences_test.go, each with its reason; a difference
// that is listed and no longer seen is an error, so that the list stays true.
//
// What is the cluster's own and the same for every kind (the scheduler's decisions, RBAC, the audit
// log, flow control, quotas) is tested beside it.
package conformance
