// Command berth-observer says what runs in a cluster, on which machines, and what forbids others.
package main

import (
	"os"

	"github.com/berthdev/berth/internal/observer/command"
)

func main() { os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
