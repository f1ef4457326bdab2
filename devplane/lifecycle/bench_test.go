//go:build linux

package lifecycle

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
	"github.com/berthdev/berth/devplane/internal/plane"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkUp is a start from compiled binaries to ready nodes, and the end.
func BenchmarkUp(b *testing.B) {
	for name, nodes := range map[string]string{
		"process=1":         "version: 1\npools: [{name: n, kind: process}]\n",
		"real=1":            "version: 1\npools: [{name: n, kind: real}]\n",
		"real=1,process=10": "version: 1\npools: [{name: r, kind: real}, {name: p, kind: process, count: 10}]\n",
		"scale=100":         "version: 1\npools: [{name: n, kind: scale, count: 100}]\n",
	} {
		b.Run(name, func(b *testing.B) {
			var up, down time.Duration
			for b.Loop() {
				began := time.Now()
				c, err := devplanetest.Start(b.TempDir(), nodes)
				if err != nil {
					b.Fatal(err)
				}
				up += time.Since(began)
				began = time.Now()
				if err := c.Stop(); err != nil {
					b.Fatal(err)
				}
				down += time.Since(began)
			}
			b.ReportMetric(up.Seconds()/float64(b.N), "s/up")
			b.ReportMetric(down.Seconds()/float64(b.N), "s/down")
			b.ReportMetric(0, "ns/op") // up and down together say nothing
		})
	}
}

// BenchmarkScalePods creates pods on 100 scale nodes, eight at a time, and waits until all have
// succeeded. The scheduler's client has 2000 requests per second, as always on a devplane.
func BenchmarkScalePods(b *testing.B) {
	c, err := devplanetest.Start(b.TempDir(), "version: 1\npools: [{name: n, kind: scale, count: 100, run_for: 0s}]\n")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Stop() }()
	b.Run("memory=idle", func(b *testing.B) { reportMemory(b, c) })
	for _, n := range []int{300, 1000} {
		b.Run(fmt.Sprintf("pods=%d", n), func(b *testing.B) {
			for b.Loop() {
				completePods(b, c, n)
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
		})
	}
	b.Run("memory=after", func(b *testing.B) { reportMemory(b, c) })
}

// reportMemory reports the resident set of each part.
func reportMemory(b *testing.B, c *devplanetest.Cluster) {
	out, err := c.Devplane("status", "-o", "json")
	if err != nil {
		b.Fatal(err)
	}
	var s plane.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		b.Fatal(err)
	}
	for _, p := range s.Parts {
		b.ReportMetric(float64(p.Memory>>20), p.Name+"-MiB")
	}
	b.ReportMetric(0, "ns/op")
}

func completePods(b *testing.B, c *devplanetest.Cluster, n int) {
	ns, ctx := c.Namespace(b), devplanetest.Context(b)
	work := make(chan int)
	failed := make(chan error, 8)
	for range 8 {
		go func() {
			for i := range work {
				pod := sleeper(fmt.Sprintf("pod-%d", i), "scale", "1")
				if _, err := c.Client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	go func() {
		defer close(work)
		for i := range n {
			select {
			case work <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	done := map[string]bool{}
	_, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "pods", ns, "", func(p *corev1.Pod) bool {
		if p != nil && p.Status.Phase == corev1.PodSucceeded {
			done[p.Name] = true
		}
		return len(done) == n
	})
	select {
	case err = <-failed:
	default:
	}
	if err != nil {
		b.Fatalf("%d of %d pods: %v", len(done), n, err)
	}
}
