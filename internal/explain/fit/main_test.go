package fit

import (
	"os"
	"testing"

	"github.com/berthdev/berth/test/cluster"
)

// shared is a cluster for one asker at a time: its nodes are made by the tests, and nothing stands behind
// them. All that is wanted is what the scheduler decides.
var shared = cluster.Share("testdata/nodes.yaml",
	"--feature-gates", "TaintTolerationComparisonOperators=true", // or the API server would refuse Gt and Lt
	"--node-grace", "24h") // nodes without a kubelet say nothing

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
