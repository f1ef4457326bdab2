package plan

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
)

func local(t *testing.T, operator, text string) Outcome {
	t.Helper()
	file, findings := pipeline.Parse("p.yaml", []byte("version: 1\nname: p\n"+text), pipeline.Options{})
	if file == nil {
		t.Fatal(findings.Text(nil))
	}
	rules := profile.Empty()
	if operator != "" {
		if rules, findings = profile.Load("o.yaml", []byte("version: 1\n"+operator)); rules == nil {
			t.Fatal(findings.Text(nil))
		}
	}
	return MakeLocal(file, rules, pipeline.Input{}, govern.Who{Embedded: true})
}

func codes(l finding.List) string {
	var all []string
	for _, f := range l.All() {
		all = append(all, string(f.Code))
	}
	return strings.Join(all, " ")
}

func TestLocal(t *testing.T) {
	const rules = "placement_profiles: [{name: known, k8s: {}}, {name: kept, restricted: true, k8s: {}}]\npools: [{name: few, slots: 1}]\n"
	for _, test := range []struct {
		name, operator, text string
		refused              bool
		codes                string
		pool                 string
	}{
		{"without an operator file names are taken as they are", "", "environment: prod\nsteps: [{name: a, run: x, placement_profiles: [any], pool: any}]\n", false, "local_ignores", ""},
		{"with one they have to be known, and no image is needed", rules, "steps: [{name: a, run: x, placement_profiles: [known], pool: few}]\n", false, "local_ignores", "few"},
		{"its rules refuse a step without an image too", rules, "steps: [{name: a, run: x, placement_profiles: [kept]}]\n", true, "best_effort environment_needed", ""},
		{"and with an image", rules, "steps: [{name: a, image: i, run: x, placement_profiles: [kept]}]\n", true, "best_effort environment_needed", ""},
		{"what only a cluster has is invalid, all at once", "", "steps: [{name: a, run: x, secrets: {A: b/c}, service_account: d, services: [{name: s, image: i}]}]\n", false,
			"local_unsupported local_unsupported local_unsupported", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := local(t, test.operator, test.text)
			if got := codes(out.Findings); got != test.codes || out.Refused != test.refused {
				t.Errorf("refused %v: %s\n%s", out.Refused, got, out.Findings.Text(nil))
			}
			if out.Plan != nil && out.Plan.Steps[0].Pool != test.pool {
				t.Errorf("pool %q", out.Plan.Steps[0].Pool)
			}
			if (out.Plan == nil) == (test.codes == "local_ignores") {
				t.Errorf("plan %v", out.Plan)
			}
		})
	}
}
