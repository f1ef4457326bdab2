// Command berth runs pipelines as pods in a Kubernetes cluster that it shares with others.
package main

import (
	"os"

	"github.com/berthdev/berth/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
