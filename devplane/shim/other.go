//go:build !linux

// Command shim turns itself into a container's first process. It exists on Linux only: elsewhere
// containers are plain processes and need none.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "shim: namespaces exist on Linux only")
	os.Exit(128)
}
