// Package engine runs runs: it feeds the pure machine of package run with what happens, makes what comes of it
// durable, and has the machine's commands carried out.
//
//	executor ──observations──┐                       ┌─> executor   start, stop
//	store ──────requests─────┼─> loop ──> store ─────┼─> logs       collect
//	clock ───────ticks───────┘   (one transaction)   └─> executor   finish
//
// One goroutine, the loop, has all state in memory. It takes whatever has come in, steps the machines,
// lets package pool admit what is ready, commits all of it in one transaction, and only then lets the
// commands go. What happens meanwhile is the next batch: under load transactions get larger, not more.
//
// It promises:
//   - Nothing is done that is not durably decided, and what was decided is done, however often the process is
//     killed in between: commands stay in the store until an observation shows that they are done.
//   - All that is in memory can be rebuilt from the store and the executor's first observations. On start
//     nothing is started or stopped before those are complete.
//   - Nothing is polled, and no cost grows with what merely waits or runs.
//   - When the store can't be written, nothing goes on: the loop tries again until it can, or until another
//     process leads.
package engine
