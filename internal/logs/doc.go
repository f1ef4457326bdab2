// Package logs keeps the logs of attempts: while they run for whoever follows them, and afterwards for ever.
//
// It promises:
//   - A log is read from its executor once: at the attempt's end, or while it runs, if someone wants to see it.
//     There is one follow for an attempt, however many read; what was followed from the beginning to the end
//     is what is kept.
//   - Up to the last 16 MiB are kept. What was cut is said in the first line, and the second one is whole.
//   - Memory is bounded, whatever steps write: 64 KiB for a log, and files that vanish with the process.
//   - A log that could not be read to its end is not kept as if it had been, and one that is kept again
//     replaces the one before.
//   - What people see on a terminal can't change it: control sequences other than colours are taken out.
package logs
