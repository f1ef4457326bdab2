// Package run is the life of a run as a pure state machine: a graph, states, and the step from one state to
// the next.
//
//	run:      queued ─> running ─> succeeded | failed | cancelled         (rejected from the start)
//	step:     pending ─> ready ─> starting ─> running ─> succeeded | failed | skipped | cancelled
//	                       ^─────────┴──────────┘ another attempt
//	attempt:  requested ─> accepted ─> scheduled ─> running ─> ended       (any of them may be left out)
//
// It promises:
//   - A step starts only when what it needs allows it; it has at most one live attempt; and the next attempt
//     does not start before the object of the one before it is gone.
//   - What is terminal does not change. An observation that comes twice, late or in another order changes
//     nothing that was decided.
//   - A run ends when all its attempts have.
//   - No clock and no chance: the same state, event and time give the same state and commands. States are
//     values; a step that did not change is the same pointer as before.
//
// Who knows what: what should run and what has ended is the state's to say, as the store has it; what an
// attempt's object is doing is the executor's, in observations. What the state wants done are commands:
// whoever carries them out stores them with the state first, and repeats them until they are done.
package run
