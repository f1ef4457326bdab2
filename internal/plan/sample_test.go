package plan

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
)

const sampleACME = "../../examples/acme/operator.yaml"

func sampleOperator(t *testing.T, text string) *profile.File {
	t.Helper()
	file, findings := profile.Load("operator.yaml", []byte(text))
	if file == nil {
		t.Fatal(findings.Text(nil))
	}
	return file
}

func sampleOperatorACME(t *testing.T) *profile.File {
	t.Helper()
	text, err := os.ReadFile(sampleACME)
	if err != nil {
		t.Fatal(err)
	}
	return sampleOperator(t, string(text))
}

// A sample's pod is the one that a run gets whose step lists the same.
func TestSampleIsWhatRunsGet(t *testing.T) {
	operator := sampleOperatorACME(t)
	for _, names := range [][]string{{"general"}, {"arm64"}, {"arm64", "critical"}, {"critical", "gpu", "arm64"}} {
		text := samplePipeline + "  placement_profiles: [" + strings.Join(names, ", ") + "]\n"
		file, findings := pipeline.Parse("check.yaml", []byte(text), pipeline.Options{})
		if file == nil {
			t.Fatal(findings.Text(nil))
		}
		made := Make(file, operator, pipeline.Input{}, govern.Who{Embedded: true})
		if made.Plan == nil {
			t.Fatal(made.Findings.Text(nil))
		}
		s, _ := Sample(operator, names)
		sampled := *made.Plan
		sampled.Steps = []Step{s}
		if sampled.Hash() != made.Plan.Hash() {
			t.Errorf("%v: another step:\n%s\n%s", names, encode(s), encode(made.Plan.Steps[0]))
		}
	}
}

// The baseline alone has no default profile, and restricted profiles are had without a permit.
func TestSampleLayers(t *testing.T) {
	operator := sampleOperatorACME(t)
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, "baseline"},
		{[]string{"general"}, "baseline profile:general"},
		{[]string{"reserved"}, "baseline profile:reserved"},
		{[]string{"gpu", "arm64"}, "baseline profile:gpu profile:arm64"},
	} {
		s, findings := Sample(operator, test.names)
		var layers []string
		for _, o := range s.Pod.Origins {
			for _, l := range o.Layers {
				if (l == "baseline" || strings.HasPrefix(l, "profile:")) && !slices.Contains(layers, l) {
					layers = append(layers, l)
				}
			}
		}
		if slices.Sort(layers); strings.Join(layers, " ") != strings.Join(slices.Sorted(strings.FieldsSeq(test.want)), " ") || findings.HasErrors() {
			t.Errorf("%v: %v, %s", test.names, layers, findings.Text(nil))
		}
		if labels := s.Pod.Fragment["labels"].(map[string]any); labels["acme.example/pipeline"] != "check" {
			t.Errorf("%v: labels %v", test.names, labels)
		}
	}
	if d := operator.DefaultProfile(); d == nil || d.Name != "general" {
		t.Errorf("the operator file was written to: default profile %v", d)
	}
}

// Findings are about the operator file, and say nothing of a step that nobody wrote.
func TestSampleFindings(t *testing.T) {
	operator := sampleOperator(t, `version: 1
profile_conflicts: reject
placement_profiles:
  - name: a
    k8s: {nodeSelector: {tier: x}, labels: {env: "${{ run.environment }}"}}
  - name: b
    k8s:
      nodeSelector:
        tier: y
`)
	if _, findings := Sample(operator, []string{"a"}); findings.Len() > 0 {
		t.Error(findings.Text(nil))
	}
	_, findings := Sample(operator, []string{"a", "b"})
	all := findings.All()
	if len(all) != 1 || all[0].Code != finding.ProfileConflict || all[0].Position() != "operator.yaml:9:9" || strings.Contains(all[0].Message, "step") {
		t.Errorf("%s", findings.Text(nil))
	}
}
