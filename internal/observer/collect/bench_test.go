package collect

import (
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// BenchmarkFacts measures what the facts of 10,000 pods cost: to decode and reduce, and to keep.
func BenchmarkFacts(b *testing.B) {
	encoded, owners, bytes := encode(b)
	var f *Facts
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		f = NewFacts()
		for _, o := range owners {
			i, err := reducer{kind: o.Kind}.item(o)
			if err != nil {
				b.Fatal(err)
			}
			f.put(i)
		}
		for _, data := range encoded {
			var p corev1.Pod
			if err := p.Unmarshal(data); err != nil {
				b.Fatal(err)
			}
			i, err := reducer{kind: "Pod"}.item(&p)
			if err != nil {
				b.Fatal(err)
			}
			f.put(i)
		}
	}
	with := heap()
	runtime.KeepAlive(f)
	f = nil
	b.ReportMetric((with-heap())/(1<<20), "MiB-kept")
	b.ReportMetric(float64(bytes)/float64(len(encoded)), "B/pod-encoded")
}

func encode(b *testing.B) (encoded [][]byte, owners []*metav1.PartialObjectMetadata, bytes int) {
	pods, owners := observertest.NewFleet(10_000, 200).Pods(200)
	for _, p := range pods {
		data, err := p.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		encoded = append(encoded, data)
		bytes += len(data)
	}
	return encoded, owners, bytes
}

// BenchmarkView measures a look at 10,000 pods.
func BenchmarkView(b *testing.B) {
	pods, owners := observertest.NewFleet(10_000, 200).Pods(200)
	f := NewFacts()
	for _, o := range owners {
		i, err := reducer{kind: o.Kind}.item(o)
		if err != nil {
			b.Fatal(err)
		}
		f.put(i)
	}
	for _, p := range pods {
		i, err := reducer{kind: "Pod"}.item(p)
		if err != nil {
			b.Fatal(err)
		}
		f.put(i)
	}
	for b.Loop() {
		v, _ := f.View(reduce.Options{}, false)
		for range v.EachRecord() {
		}
	}
}
