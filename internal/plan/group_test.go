package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
)

const archOperator = `
version: 1
baseline: {k8s: {nodeSelector: {kubernetes.io/os: linux}}}
placement_profiles:
  - {name: amd64, k8s: {nodeSelector: {kubernetes.io/arch: amd64}}}
  - {name: arm64, k8s: {nodeSelector: {kubernetes.io/arch: arm64}}}
  - {name: tier, k8s: {nodeSelector: {tier: critical}}}
`

// TestGroups: steps that have the workspace and can't be on one node are kept apart, and no others.
func TestGroups(t *testing.T) {
	const steps = `
defaults: {image: x}
steps:
  - {name: any, run: x}
  - {name: amd, run: x, placement_profiles: [amd64]}
  - {name: arm, run: x, placement_profiles: [arm64]}
  - {name: again, run: x, placement_profiles: [amd64]}
  - {name: tier, run: x, placement_profiles: [tier]}
  - {name: alone, run: x, placement_profiles: [arm64], workspace: false}
`
	groups := func(workspace string) ([][]int, []int) {
		p := planned(t, archOperator, "version: 1\nname: p\n"+workspace+steps, pipeline.Input{})
		of := make([]int, len(p.Steps))
		for i, s := range p.Steps {
			if of[i] = -1; s.WorkspaceGroup != nil {
				of[i] = *s.WorkspaceGroup
			}
		}
		return p.Workspace.Apart, of
	}
	none := []int{-1, -1, -1, -1, -1, -1}
	for _, test := range []struct {
		workspace string
		apart     [][]int
		of        []int
	}{
		{"workspace: {size: 1Gi}", [][]int{{}, {2}, {1}, {}}, []int{0, 1, 2, 1, 3, -1}},
		{"workspace: {size: 1Gi, access_mode: ReadWriteMany}", nil, none},
	} {
		apart, of := groups(test.workspace)
		if !reflect.DeepEqual(apart, test.apart) || !reflect.DeepEqual(of, test.of) {
			t.Errorf("%s: apart %v, groups %v", test.workspace, apart, of)
		}
	}
	w := Workspace{Apart: [][]int{{}, {2}, {1}, {}}}
	if !w.Excludes(1, 2) || !w.Excludes(2, 1) || w.Excludes(1, 1) || w.Excludes(0, 1) || w.Excludes(-1, 1) || w.Excludes(9, 1) || w.Excludes(1, 9) {
		t.Error("Excludes does not say what Apart does")
	}
}

// Where no step excludes another, the plan says nothing of groups.
func TestNoGroups(t *testing.T) {
	p := planned(t, archOperator, "version: 1\nname: p\nworkspace: {size: 1Gi}\nsteps: [{name: a, image: x, command: [x]}, {name: b, image: x, command: [x], placement_profiles: [tier]}]", pipeline.Input{})
	if p.Workspace.Apart != nil || p.Steps[0].WorkspaceGroup != nil {
		t.Errorf("%v, %v", p.Workspace.Apart, p.Steps[0].WorkspaceGroup)
	}
}

// TestGroupsAreBounded: 2,000 steps with as many demands, each of 64 alternatives that all have to be looked at.
func TestGroupsAreBounded(t *testing.T) {
	p := Plan{Workspace: &Workspace{AccessMode: "ReadWriteOnce"}}
	for i := range 2000 {
		var terms []any
		for n := range 64 {
			terms = append(terms, object{"matchExpressions": []any{object{"key": "k", "operator": "In", "values": []any{fmt.Sprint(i, ".", n)}}}})
		}
		p.Steps = append(p.Steps, Step{Work: Work{Workspace: true}, Pod: Pod{Fragment: Object{"affinity": object{"nodeAffinity": object{
			"requiredDuringSchedulingIgnoredDuringExecution": object{"nodeSelectorTerms": terms}}}}}})
	}
	p.group()
	compared := 0
	for _, others := range p.Workspace.Apart {
		compared += len(others)
	}
	if compared == 0 || compared/2*64*64 > mostPairs {
		t.Errorf("%d alternatives were compared, and %d are the most", compared/2*64*64, mostPairs)
	}
	if len(p.Workspace.Apart) != mostGroups || p.Steps[1999].WorkspaceGroup != nil {
		t.Errorf("%d groups", len(p.Workspace.Apart))
	}
}

// TestPermits: what has to be permitted is in the plan, and can be judged again after it was stored.
func TestPermits(t *testing.T) {
	p := planned(t, everyKeyOperator, everyKey, pipeline.Input{})
	var back Plan
	if err := json.Unmarshal(encode(p), &back); err != nil {
		t.Fatal(err)
	}
	for i, s := range back.Steps {
		if !reflect.DeepEqual(s.Permits, p.Steps[i].Permits) {
			t.Errorf("%s: %+v was stored, and %+v read", s.Name, p.Steps[i].Permits, s.Permits)
		}
		if d := s.Permits.Check(mustLoad(t, everyKeyOperator)); len(d) > 0 {
			t.Errorf("%s: %v", s.Name, d)
		}
	}
	withdrawn := strings.ReplaceAll(everyKeyOperator, "k8s_overlay: true, secrets: [s, s2]", "k8s_overlay: [tolerations], secrets: [s2]")
	var said []string
	for _, d := range back.Steps[1].Permits.Check(mustLoad(t, withdrawn)) {
		said = append(said, d.Message)
	}
	want := []string{`the environment prod does not permit the Secret "s"`, "the environment prod does not let k8s_overlay touch hostname"}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("%q", said)
	}
}

// A step that asks for nothing has no permits.
func TestNoPermits(t *testing.T) {
	p := planned(t, everyKeyOperator, "version: 1\nname: p\nenvironment: prod\nsteps: [{name: a, image: x, command: [x]}]", pipeline.Input{})
	if text := string(encode(p.Steps[0])); strings.Contains(text, "permits") || strings.Contains(string(canonical(p.Steps[0])), "permits") {
		t.Error(text)
	}
	p.Steps[0].Timeout = Duration(time.Hour)
	before := p.Hash()
	p.Steps[0].Permits.Touched = []placement.Path{placement.MustPath("a.b")}
	if p.Hash() == before {
		t.Error("permits are not in the hash")
	}
}
