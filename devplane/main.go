// Command devplane runs a real Kubernetes cluster on one machine; see internal/cli.
package main

import (
	"os"

	"github.com/berthdev/berth/devplane/internal/cli"
	"github.com/berthdev/berth/devplane/internal/parts"
	"k8s.io/component-base/version"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], version.Get().GitVersion, parts.All()))
}
