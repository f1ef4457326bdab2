package reduce_test

import (
	"bytes"
	"compress/gzip"
	"testing"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/manifest"
	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// fleet is what is known of a tenth of the cluster that make bench measures with.
func fleet() reduce.Cluster {
	const pods, nodes = 1000, 20
	o := &manifest.Objects{}
	o.Pods, o.Metadata = observertest.NewFleet(pods, nodes).Pods(nodes)
	return known(o)
}

// A fleet comes out as it was made: as many workloads, variants and pods.
func TestFleet(t *testing.T) {
	v := reduce.Look(fleet(), reduce.Options{})
	w := v.Workloads()
	kinds, pods := map[string]int{}, 0
	for _, w := range w {
		kinds[w.Kind]++
		pods += w.Pods
	}
	want := map[string]int{"Deployment": 81, "StatefulSet": 9, "DaemonSet": 5, "Pod": 45}
	for kind, n := range want {
		if kinds[kind] != n {
			t.Errorf("%d workloads of the kind %s, want %d", kinds[kind], kind, n)
		}
	}
	if pods != 1000 || v.PodsSeen != 1000 || v.OwnersUnresolved != 0 || v.Records != 178 || v.Variants != 26 {
		t.Errorf("%d pods; %+v", pods, v.Counts)
	}
}

// A record of a constrained workload with ten replicas, its nodes included, is no larger than promised: 700 bytes
// as it is, and 80 of a compressed payload.
func TestRecordSize(t *testing.T) {
	v := reduce.Look(fleet(), reduce.Options{})
	var plain, zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	n := 0
	for r := range v.EachRecord() {
		if r.WorkloadKind != "Deployment" || r.Pod.Placement == nil {
			continue
		}
		data, err := observer.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Pod.Replicas != 10 || len(r.Pod.Nodes) != 10 {
			t.Fatalf("%s", data)
		}
		n++
		plain.Write(data)
		_, _ = z.Write(data)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if p, q := plain.Len()/n, zipped.Len()/n; p > 700 || q > 80 {
		t.Errorf("%d bytes, %d compressed, over %d records", p, q, n)
	} else {
		t.Logf("%d bytes, %d compressed, over %d records", p, q, n)
	}
}
