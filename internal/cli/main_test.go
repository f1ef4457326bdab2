package cli

import (
	"os"
	"testing"

	"github.com/berthdev/berth/test/cluster"
)

const sharedNodes = "testdata/nodes.yaml"

// shared has a feature gate off, whatever the default is by now, for a field that is dropped.
var shared = cluster.Share(sharedNodes, "--feature-gates", "ContainerStopSignals=false")

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
