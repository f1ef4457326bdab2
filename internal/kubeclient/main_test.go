package kubeclient

import (
	"os"
	"testing"

	"github.com/berthdev/berth/test/cluster"
)

// shared has a feature gate off, whatever the default is by now, for a field that is dropped.
var shared = cluster.Share("testdata/nodes.yaml", "--feature-gates", "ContainerStopSignals=false")

func TestMain(m *testing.M) {
	if os.Getenv(inPodKey) != "" {
		os.Exit(inPod())
	}
	os.Exit(shared.Main(m))
}
