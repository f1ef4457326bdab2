package command

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/test/cluster"
)

// A tenth of the fleet that make bench measures with, made by a cluster's own controllers: each workload is there,
// each with its pods, and a start costs one request for each resource.
func TestFleet(t *testing.T) {
	t.Parallel()
	const pods, nodes = 1000, 20
	file := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(file, []byte(observertest.Nodes(nodes)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := cluster.New(t, file)
	f := observertest.NewFleet(pods, nodes)
	create(t, c, f)
	waitForPods(t, c, pods, 5*time.Minute)
	s := runOnce(t, c.Kubeconfig)
	kinds, counted := map[string]int{}, map[string]int{}
	for _, r := range s.Workloads.Records {
		if r.Container == "main" {
			kinds[r.WorkloadKind]++
			counted[r.WorkloadKind] += r.Pod.Replicas
		}
	}
	want := map[string]int{"Deployment": len(f.Deployments), "StatefulSet": len(f.StatefulSets), "DaemonSet": len(f.DaemonSets), "Pod": len(f.Bare)}
	wantPods := map[string]int{"Deployment": 10 * len(f.Deployments), "StatefulSet": 5 * len(f.StatefulSets), "DaemonSet": nodes * len(f.DaemonSets), "Pod": len(f.Bare)}
	if !maps.Equal(kinds, want) || !maps.Equal(counted, wantPods) {
		t.Errorf("records %v of pods %v, want %v of %v", kinds, counted, want, wantPods)
	}
	if k := s.Coverage; k.PodsSeen != pods || k.Nodes != nodes || k.Records != 178 || k.OwnersUnresolved != 0 || k.PlacementValuesDropped+k.PlacementTermsDropped+k.NodesValuesDropped != 0 {
		t.Errorf("%+v", k)
	}
	if got := requests(t, c, "berth-observer/"); !maps.Equal(got, map[string]int{"watch": 9}) {
		t.Errorf("requests %v", got)
	}
	if !slices.IsSortedFunc(s.Workloads.Records, func(a, b v1.Record) int { return a.Compare(b.Key) }) {
		t.Error("records are not sorted by key")
	}
}

func create(t testing.TB, c *cluster.Cluster, f *observertest.Fleet) {
	ctx := context.Background()
	var all []func() error
	for _, n := range f.Namespaces {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}
		if _, err := c.Client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range f.Deployments {
		d := &f.Deployments[i]
		all = append(all, func() error {
			_, err := c.Client.AppsV1().Deployments(d.Namespace).Create(ctx, d, metav1.CreateOptions{})
			return err
		})
	}
	for i := range f.StatefulSets {
		s := &f.StatefulSets[i]
		all = append(all, func() error {
			_, err := c.Client.AppsV1().StatefulSets(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
			return err
		})
	}
	for i := range f.DaemonSets {
		d := &f.DaemonSets[i]
		all = append(all, func() error {
			_, err := c.Client.AppsV1().DaemonSets(d.Namespace).Create(ctx, d, metav1.CreateOptions{})
			return err
		})
	}
	for i := range f.Bare {
		p := &f.Bare[i]
		all = append(all, func() error {
			_, err := c.Client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
			return err
		})
	}
	work := make(chan func() error)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for w := range work {
				// A namespace has its ServiceAccount a moment after it is made.
				for try := 0; ; try++ {
					err := w()
					if err == nil {
						break
					}
					if try > 100 {
						t.Error(err)
						break
					}
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	for _, w := range all {
		work <- w
	}
	close(work)
	workers.Wait()
}

// waitForPods waits until so many pods run, which takes a machine that is busy many minutes.
func waitForPods(t testing.TB, c *cluster.Cluster, want int, most time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := -1; n < want; {
		list, err := c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running", ResourceVersion: "0"})
		if err != nil {
			t.Fatalf("%d of %d pods run: %v", n, want, err)
		}
		n = len(list.Items)
		<-tick.C
	}
}

// requests counts those of a user agent, by verb, as the API server has them in its log.
func requests(t testing.TB, c *cluster.Cluster, agent string) map[string]int {
	n := map[string]int{}
	for _, q := range c.Audited(t, agent, func(q cluster.Request) bool { return strings.HasPrefix(q.UserAgent, agent) }) {
		n[q.Verb]++
	}
	return n
}
