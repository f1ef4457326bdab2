package reduce_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/transcript"
)

const goldenFolder = "../../../api/observer/v1/golden/"

var golden = reduce.Options{NodeLabels: []string{"acme.example/rack"}}

// The goldens are what is said of the cluster in testdata/cluster.yaml.
func TestGolden(t *testing.T) {
	v := reduce.Look(known(readFile(t, "testdata/cluster.yaml")), golden)
	w, n := workloads(t, v), nodes(t, v)
	transcript.File(t, goldenFolder+"workload_metadata.json", string(w))
	transcript.File(t, goldenFolder+"node_metadata.json", string(n))

	since := now.Add(-5 * time.Minute)
	c := &observer.Coverage{
		Envelope: observer.NewEnvelope(observer.KindCoverage, "6f1c7e0a-0000-4000-8000-000000000001", now), Since: since, Version: "v1.0.0",
		Config: observer.Config{Mode: observer.ModeCluster, NodeLabels: 1, StringBytes: 128, Spool: true},
		Sources: []observer.Source{
			{Resource: "cronjobs", Watches: 1, Failing: observer.FailingForbidden, FailingSince: &since},
			{Resource: "pods", Watches: 1, Synced: true, Interruptions: 1},
		},
		Bytes:  map[string]int{observer.KindWorkloads: len(w), observer.KindNodes: len(n)},
		Errors: map[string]int{observer.ErrorSpool: 2},
	}
	v.Fill(c)
	var b bytes.Buffer
	if err := observer.WriteCoverage(&b, c); err != nil {
		t.Fatal(err)
	}
	transcript.File(t, goldenFolder+"coverage.json", b.String())
}

// Whatever order objects come in, the bytes are the same.
func TestShuffled(t *testing.T) {
	o := readFile(t, "testdata/cluster.yaml")
	v := reduce.Look(known(o), golden)
	w, n, counts := workloads(t, v), nodes(t, v), v.Counts
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
		random.Shuffle(len(o.Nodes), func(i, j int) { o.Nodes[i], o.Nodes[j] = o.Nodes[j], o.Nodes[i] })
		for _, p := range o.Pods {
			random.Shuffle(len(p.Spec.Tolerations), func(i, j int) {
				p.Spec.Tolerations[i], p.Spec.Tolerations[j] = p.Spec.Tolerations[j], p.Spec.Tolerations[i]
			})
		}
		v := reduce.Look(known(o), golden)
		if !bytes.Equal(workloads(t, v), w) || !bytes.Equal(nodes(t, v), n) {
			t.Fatal("another order gives other bytes")
		}
		if v.PlacementValuesDropped != counts.PlacementValuesDropped || v.Variants != counts.Variants {
			t.Fatalf("another order gives other counts: %+v, %+v", v.Counts, counts)
		}
	}
	if !slices.Contains([]int{1, 2}, counts.PlacementValuesDropped) {
		t.Errorf("%d values were dropped", counts.PlacementValuesDropped)
	}
}
