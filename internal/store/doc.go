// Package store is the contract of what makes runs durable.
//
// The store is the authority for what should run and for what has ended. It holds, for each run, its plan,
// the state of the pure machine in package run, the commands that are not done yet, the event log, and of
// each attempt where its pod's values come from.
//
// The comments at Store are the protocol; storetest holds every implementation to it.
package store
