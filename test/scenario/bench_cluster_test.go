//go:build unix

package scenario

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/test/cluster"
)

// BenchmarkRun is `berth run` as a whole, as a process of its own, on a cluster with 200 nodes on which pods of 1 s
// only pass time: 500 steps at once, and 50 chains of 10 steps. The floor of the first is 1 s, of the second 10 s. s/run
// is from the start of the process to its end, when no pod is left.
func BenchmarkRun(b *testing.B) {
	const steps = 500
	// The program itself: this test's binary has Kubernetes' whole client in it, which would be measured too.
	program := filepath.Join(b.TempDir(), "berth")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/berthdev/berth/cmd/berth").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	c := cluster.New(b, "testdata/scale.yaml")
	for _, shape := range []struct{ name, steps, rules string }{
		{"500parallel", parallel(steps), ""},
		{"50x10", chains(50, 10), ""},
		{"500parallel, no logs", parallel(steps), "logs: {archive: none}\n"},
	} {
		b.Run(shape.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				dir, namespace := b.TempDir(), c.Namespace(b)
				pipeline := "version: 1\nname: scale\ndefaults: {image: none, resources: {cpu: 10m, memory: 16Mi}}\nsteps:\n" + shape.steps
				for name, text := range map[string]string{"p.yaml": pipeline, "operator.yaml": "version: 1\n" + shape.rules} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				began := time.Now()
				p, err := launchAs(program, []string{"run", "p.yaml", "--operator", "operator.yaml", "--kubeconfig", c.Kubeconfig, "--namespace", namespace, "--state", "state", "-o", "json"}, dir, nil)
				if err != nil {
					b.Fatal(err)
				}
				<-p.ended
				if code := p.cmd.ProcessState.ExitCode(); code != 0 {
					b.Fatalf("exit code %d\n%s", code, p)
				}
				b.ReportMetric(time.Since(began).Seconds(), "s/run")
				used := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
				b.ReportMetric(float64(used.Utime.Nano()+used.Stime.Nano())/1e6/steps, "ms-cpu/step")
				b.ReportMetric(float64(used.Maxrss)/1024, "MiB-peak")
				verbs := map[string]int{}
				for _, q := range c.Audited(b, namespace, func(q cluster.Request) bool { return strings.HasPrefix(q.UserAgent, "berth/") }) {
					verbs[q.What()]++
				}
				for _, what := range slices.Sorted(maps.Keys(verbs)) {
					b.ReportMetric(float64(verbs[what]), strings.ReplaceAll(what, " ", "-"))
				}
			}
		})
	}
}

func parallel(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - {name: s%d, run: \"true\"}\n", i)
	}
	return b.String()
}

func chains(n, long int) string {
	var b strings.Builder
	for i := range n {
		for j := range long {
			needs := ""
			if j > 0 {
				needs = fmt.Sprintf("needs: [c%d-%d], ", i, j-1)
			}
			fmt.Fprintf(&b, "  - {name: c%d-%d, %srun: \"true\"}\n", i, j, needs)
		}
	}
	return b.String()
}
