package plan

import (
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
)

// FuzzPipeline puts any text through all of planning: it comes to a plan or to an error, without a panic,
// and a plan that was made can be made again.
func FuzzPipeline(f *testing.F) {
	operator := mustLoad(f, read(f, "../../examples/acme/operator.yaml"))
	for _, seed := range []string{read(f, "../../examples/acme/release.yaml"), read(f, "../../examples/hello.yaml"), everyKey, large(2),
		"version: 1\nname: p\nsteps:\n  - {name: a, image: i, run: x, matrix: {a: [1, b, true], include: [{c: d}], exclude: [{a: 1}]}, if: \"failure()\"}\n",
		"a: &a [*a]\n", "steps: [{k8s_overlay: {containers: [{name: step, $patch: delete}]}}]\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, findings := pipeline.Parse("p.yaml", []byte(text), pipeline.Options{})
		if file == nil {
			if !findings.HasErrors() {
				t.Fatal("neither a file nor an error")
			}
			return
		}
		in := pipeline.Input{Params: map[string]string{"version": "v1.2.3"}}
		out := Make(file, operator, in, embedded)
		if out.Plan == nil {
			if !out.Findings.HasErrors() {
				t.Fatal("neither a plan nor an error")
			}
			return
		}
		if out.Plan.Hash() != Make(file, operator, in, embedded).Plan.Hash() {
			t.Fatal("made twice, it is another plan")
		}
	})
}
