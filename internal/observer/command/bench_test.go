package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
	waitForPods(b, c, pods, time.Hour)

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
