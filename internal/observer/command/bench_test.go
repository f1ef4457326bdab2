package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// BenchmarkFleet runs the program on 10,000 pods and 200 nodes, for a start and three minutes in which little
// changes. It is about one run: the time per operation says nothing.
func BenchmarkFleet(b *testing.B) {
	const pods, nodes, steady = 10_000, 200, 3 * time.Minute
	file := filepath.Join(b.TempDir(), "nodes.yaml")
	if err := os.WriteFile(file, []byte(observertest.Nodes(nodes)), 0o600); err != nil {
		b.Fatal(err)
	}
	c := cluster.New(b, file)
	create(b, c, observertest.NewFleet(pods, nodes))
	waitForPods(b, c, pods)

	program := filepath.Join(b.TempDir(), "berth-observer")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "../../../cmd/berth-observer").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	dir := b.TempDir()
	cmd := exec.Command(program, "--kubeconfig", c.Kubeconfig, "--spool", dir, "--listen", "127.0.0.1:19187")
	cmd.Stderr = os.Stderr
	b.ResetTimer()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	first := time.Duration(0)
	for first == 0 {
		if _, err := os.Stat(filepath.Join(dir, "workload_metadata.json")); err == nil {
			first = time.Since(began)
		}
		time.Sleep(10 * time.Millisecond)
	}
	startCPU := cpuSeconds(b, cmd.Process.Pid)
	startPeak := memory(b, cmd.Process.Pid, "VmHWM")
	time.Sleep(steady - time.Since(began))
	cpu := cpuSeconds(b, cmd.Process.Pid)
	rss, peak := memory(b, cmd.Process.Pid, "VmRSS"), memory(b, cmd.Process.Pid, "VmHWM")
	scrape := time.Now()
	response, err := http.Get("http://127.0.0.1:19187/metrics")
	if err != nil {
		b.Fatal(err)
	}
	response.Body.Close()
	scraped := cpuSeconds(b, cmd.Process.Pid) - cpu

	data, err := os.ReadFile(filepath.Join(dir, "workload_metadata.json"))
	if err != nil {
		b.Fatal(err)
	}
	var w v1.WorkloadMetadata
	if err := json.Unmarshal(data, &w); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(first.Seconds(), "s-to-first-payload")
	b.ReportMetric(startCPU, "cpu-s-to-first-payload")
	b.ReportMetric(cpu, "cpu-s-over-3-minutes")
	b.ReportMetric(scraped, "cpu-s-per-scrape")
	b.ReportMetric(time.Since(scrape).Seconds(), "s-per-scrape")
	b.ReportMetric(rss, "MiB-steady")
	b.ReportMetric(startPeak, "MiB-peak-at-start")
	b.ReportMetric(peak, "MiB-peak")
	b.ReportMetric(float64(len(w.Records)), "records")
	b.ReportMetric(float64(len(data))/float64(len(w.Records)), "B/record")
	for verb, n := range requests(b, c, "berth-observer/") {
		b.ReportMetric(float64(n), verb+"-requests")
	}
}

func create(b *testing.B, c *cluster.Cluster, f *observertest.Fleet) {
	ctx := context.Background()
	var all []func() error
	for _, n := range f.Namespaces {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}
		if _, err := c.Client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
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
						b.Error(err)
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

func waitForPods(b *testing.B, c *cluster.Cluster, want int) {
	for {
		list, err := c.Client.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{FieldSelector: "status.phase=Running", ResourceVersion: "0"})
		if err != nil {
			b.Fatal(err)
		}
		if len(list.Items) == want {
			return
		}
		b.Logf("%d of %d pods run", len(list.Items), want)
		time.Sleep(5 * time.Second)
	}
}

// memory is a line of the process's status, in MiB.
func memory(b *testing.B, pid int, key string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc: ", err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key+":" {
			n, _ := strconv.Atoi(f[1])
			return float64(n) / 1024
		}
	}
	b.Fatalf("no %s", key)
	return 0
}

// cpuSeconds is what the process has used, user and system. Linux counts in hundredths.
func cpuSeconds(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("no /proc: ", err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	f := strings.Fields(after)
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return float64(user+system) / 100
}

// requests counts those of a user agent, by verb, as the API server has them in its log.
func requests(b testing.TB, c *cluster.Cluster, agent string) map[string]int {
	f, err := os.Open(filepath.Join(filepath.Dir(c.Kubeconfig), "logs", "audit.log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	n := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var q struct {
			Stage, Verb, UserAgent string
		}
		if !strings.Contains(lines.Text(), agent) || json.Unmarshal(lines.Bytes(), &q) != nil || !strings.HasPrefix(q.UserAgent, agent) {
			continue
		}
		if q.Verb == "watch" && q.Stage == "ResponseStarted" || q.Verb != "watch" && q.Stage == "ResponseComplete" {
			n[q.Verb]++
		}
	}
	return n
}
