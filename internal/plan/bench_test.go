package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
)

// large is a run of so many steps that say as much as steps usually do, after the ACME operator file.
func large(steps int) string {
	var b strings.Builder
	b.WriteString(`version: 1
name: large
environment: prod
params: {version: {default: v1}}
workspace: {size: 1Gi}
defaults: {image: golang:1.26, resources: {cpu: "1", memory: 1Gi}, retry: {max: 1}}
steps:
`)
	for i := range steps {
		fmt.Fprintf(&b, `  - name: s%d
    env: {VERSION: "${{ params.version }}", N: %d, RUN: "${{ run.id }}"}
    placement_profiles: [general, arm64, critical]
    run: |
      make target-%d
    k8s_overlay: {annotations: {acme.example/cost-center: "%d"}}
`, i, i, i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    needs: [s%d]\n", i/2)
		}
	}
	return b.String()
}

func BenchmarkPlan2000Steps(b *testing.B) {
	operator, text := mustLoad(b, read(b, "../../examples/acme/operator.yaml")), []byte(large(2000))
	parts := map[string]func() *Plan{
		"parse": func() *Plan { pipeline.Parse("p.yaml", text, pipeline.Options{}); return nil },
		"whole": func() *Plan {
			f, _ := pipeline.Parse("p.yaml", text, pipeline.Options{})
			return Make(f, operator, pipeline.Input{}, embedded).Plan
		},
		"whole and hash": func() *Plan {
			f, _ := pipeline.Parse("p.yaml", text, pipeline.Options{})
			p := Make(f, operator, pipeline.Input{}, embedded).Plan
			p.Hash()
			return p
		},
	}
	for _, name := range []string{"parse", "whole", "whole and hash"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p := parts[name](); name != "parse" && len(p.Steps) != 2000 {
					b.Fatal("no plan")
				}
			}
		})
	}
}

// TestPlanAllocates bounds what a step costs to plan: reading, composing, judging.
func TestPlanAllocates(t *testing.T) {
	operator, text := mustLoad(t, read(t, "../../examples/acme/operator.yaml")), []byte(large(200))
	if out := makeOf(t, read(t, "../../examples/acme/operator.yaml"), string(text), pipeline.Input{}); out.Plan == nil {
		t.Fatal(out.Findings.Text(nil))
	}
	const most = 4000 // of a step
	got := testing.AllocsPerRun(3, func() {
		f, _ := pipeline.Parse("p.yaml", text, pipeline.Options{})
		Make(f, operator, pipeline.Input{}, embedded)
	}) / 200
	if got > most {
		t.Errorf("%.0f allocations a step, and %d are the most", got, most)
	}
	t.Logf("%.0f allocations a step", got)
}
