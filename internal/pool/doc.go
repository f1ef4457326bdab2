// Package pool decides which ready steps may start, and says why the others wait.
//
// It promises:
//   - Steps start in the order of their priority; among those of one priority the pipeline goes first that
//     holds the fewest slots; and of one pipeline the step that has waited longest.
//   - No bound is ever exceeded: the slots of a pool, the active steps of a run, those of all runs; and two
//     steps whose placements exclude each other never have a workspace at the same time.
//   - A step that fits is not held up by one ahead of it that waits for something else.
//   - What waits has a reason with its place in the queue. It is said anew when it has changed noticeably:
//     what thousands wait for is not rewritten for each step that starts.
//
// A Queue is a value with a memory and without a clock. Where nothing changed it costs nothing.
package pool
