package podspec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
)

const late = `
version: 1
name: p
params: {p: {default: x}}
workspace: {size: 1Gi}
steps:
  - {name: first, image: i, run: x, outputs: [o]}
  - name: s
    image: i
    needs: [first]
    env: {P: "${{ params.p }}", O: "${{ steps.first.outputs.o }}"}
    run: "echo ${{ run.id }}"
    services: [{name: db, image: i, args: [a, "${{ run.id }}"]}]
`

var facts = Facts{Namespace: "ci", Instance: "INST", Run: "01J9ZZZZZZZZZZZZZZZZZZZZZZ", Attempt: 2, Fence: 7}

func planOf(t *testing.T, text string, params map[string]string) *plan.Plan {
	t.Helper()
	file, findings := pipeline.Parse("p.yaml", []byte(text), pipeline.Options{})
	if file == nil {
		t.Fatal(findings.Text(nil))
	}
	out := plan.Make(file, profile.Empty(), pipeline.Input{Params: params}, govern.Who{Embedded: true})
	if out.Plan == nil {
		t.Fatal(out.Findings.Text(nil))
	}
	return out.Plan
}

// TestPod puts the facts of an attempt into the places that the plan lists, and what they look like makes
// no difference: nothing is looked at twice.
func TestPod(t *testing.T) {
	p := planOf(t, late, map[string]string{"p": "${{ run.id }} ${{ attempt }} $(HOME)"})
	before := p.Hash()
	step := &p.Steps[1]
	var wanted []string
	for _, l := range Authored(step) {
		wanted = append(wanted, l.Path.String()+": "+l.Text)
	}
	facts := facts
	for i := range wanted { // what each came to looks like an expression, and like Berth's own texts
		facts.Late = append(facts.Late, "${{ fence }} $(X) "+string(rune('a'+i)))
	}
	pod, err := Pod(step, facts)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(pod)
	text := string(data)
	for _, want := range []string{
		`"name":"s-01j9zzzzzzzzzzzzzzzzzzzzzz-2","namespace":"ci"`,
		`"berth.dev/run":"01J9ZZZZZZZZZZZZZZZZZZZZZZ"`, `"berth.dev/attempt":"2"`, `"berth.dev/instance":"INST"`, `"berth.dev/fence":"7"`,
		`{"name":"BERTH_FENCE","value":"7"}`, `{"name":"BERTH_ATTEMPT","value":"2"}`,
		`{"name":"P","value":"$${{ run.id }} $${{ attempt }} $$(HOME)"}`,
		`{"name":"O","value":"$${{ fence }} $$(X) `,
		`"claimName":"berth-01j9zzzzzzzzzzzzzzzzzzzzzz"`,
		`"matchLabels":{"berth.dev/workspace":"01J9ZZZZZZZZZZZZZZZZZZZZZZ"}`,
		`"args":["a","$${{ fence }} $$(X) `,
		`["/bin/sh","-e","-c","$${{ fence }} $$(X) `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if p.Hash() != before {
		t.Error("the plan was written to")
	}
	if len(wanted) != 3 {
		t.Errorf("texts that are late: %q", wanted)
	}
	facts.Late = facts.Late[:2]
	if _, err := Pod(step, facts); err == nil {
		t.Error("a pod without a text that it needs")
	}
}

// TestPreview leaves what is not known as it was written.
func TestPreview(t *testing.T) {
	facts := facts
	facts.Preview = true
	pod, err := Pod(&planOf(t, late, nil).Steps[1], facts)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(pod)
	if want := `{"name":"O","value":"${{ steps.first.outputs.o }}"}`; !strings.Contains(string(data), want) {
		t.Errorf("no %s in\n%s", want, data)
	}
}

// TestReplacedTextsAreNotLate: what an overlay put in the place of a late text is not evaluated.
func TestReplacedTextsAreNotLate(t *testing.T) {
	file, _ := pipeline.Parse("p.yaml", []byte(strings.Replace(late, "name: p\n", "name: p\nenvironment: prod\n", 1)+
		`    k8s_overlay: {containers: [{name: step, env: [{name: O, value: mine}]}], initContainers: [{name: db, args: [b]}]}`), pipeline.Options{})
	operator, _ := profile.Load("o.yaml", []byte("version: 1\nenvironments: [{name: prod, permits: {k8s_overlay: true}}]\n"))
	out := plan.Make(file, operator, pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		t.Fatal(out.Findings.Text(nil))
	}
	if left := Authored(&out.Plan.Steps[1]); len(left) != 1 || !strings.Contains(left[0].Path.String(), "command") {
		t.Errorf("late: %v", left)
	}
}
