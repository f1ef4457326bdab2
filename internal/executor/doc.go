// Package executor is the contract between the engine and what carries attempts out: pods of a cluster, or
// processes of this machine.
//
// It promises nothing by itself; the comments at Executor and Reporter are the protocol, executortest holds
// every implementation to it, and executortest's scripted one holds its caller to it.
package executor
