// Package kube carries attempts out as pods of a cluster in which it is a guest.
//
//	Start ──> queue ──> create ──────────┐                      reporter
//	            ^   quota: one probe     ├──> what is known ──> Observe
//	            └── all others wait      │    of each attempt
//	                one watch ───────────┘
//	Stop ───> delete, by UID
//
// It promises:
//   - Rights: in one namespace pods create, get, list, watch, delete; pods/log get; claims create, get, delete.
//   - Requests: one watch, however many steps there are; for each step one create, one delete, and a log
//     read. A pod that waits or runs costs none.
//   - A pod's name is a function of its attempt: creating it twice gives one pod. Deletions carry the UID.
//   - How a pod ended is read from the pod alone, by one pure function (read.go); that it is gone is believed
//     only when the API server says so.
//   - What is wrong with the cluster's capacity (quota, overload, no answer) makes attempts wait, with the API
//     server's words, and spends none.
package kube
