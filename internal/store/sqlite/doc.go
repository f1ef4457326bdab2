// Package sqlite keeps runs in one file. One process at a time leads, by a lock on a file beside it; others may
// read while it writes, submit runs and ask for their end.
//
// It promises that what was committed outlives a power cut (WAL, synchronous=FULL), that nothing is half
// done, and that a file which a newer Berth has written is refused rather than misread.
package sqlite
