//go:build !unix

package main

import "os"

// tryLock locks nothing: here two builds at once do the work twice, and the later one wins.
func tryLock(*os.File) (bool, error) { return true, nil }
