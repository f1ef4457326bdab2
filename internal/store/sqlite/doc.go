// Package sqlite keeps runs in one file. One process at a time leads, by a lock on a file beside it; others may
// read while it writes, submit runs and ask for their end.
//
// It promises that what was committed outlives a power cut (WAL, synchronous=FULL), that nothing is half
// done or half read, and that a file which a newer Berth has written is refused rather than misread.
//
// Two kinds of locks are at work. SQLite's own order transactions, and last as long as one. The lock on
// FILE.lock says who leads, or who is bringing the file up to date, and lasts as long as that process. The
// epoch in the file is what a transaction is checked against; the lock is how people learn who has it.
package sqlite
