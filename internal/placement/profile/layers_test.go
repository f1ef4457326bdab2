package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
)

func load(t testing.TB, text string) *File {
	t.Helper()
	file, findings := Load("operator.yaml", []byte(text))
	if file == nil {
		t.Fatal(findings.Text(map[string]string{"operator.yaml": text}))
	}
	return file
}

const layered = `version: 1
baseline:
  k8s:
    tolerations: [{key: workload-type, value: batch, effect: NoSchedule}]
    labels: {team: "${{ run.pipeline }}", env: "${{ run.environment == '' ? 'none' : run.environment }}", a: b}
  resources: {cpu: 500m}
  locked: ["containers[step].resources.limits"]
placement_profiles:
  - name: general
    default: true
    k8s: {nodeSelector: {node-group: general}}
  - name: arm64
    k8s: {nodeSelector: {kubernetes.io/arch: arm64}, annotations: {a: "for ${{ run.pipeline }}"}}
  - {name: large, k8s: {nodeSelector: {size: large}}}
`

// TestLayers shows each case's layers, in their order.
func TestLayers(t *testing.T) {
	const base = `baseline {"labels":{"a":"b","env":"%s","team":"release"},"tolerations":[{"effect":"NoSchedule","key":"workload-type","value":"batch"}]}
baseline {"containers":[{"name":"step","resources":{"limits":{"cpu":"500m"},"requests":{"cpu":"500m"}}}]}
`
	tests := []struct {
		name   string
		listed []string
		facts  RunFacts
		want   string
	}{
		{"none listed: the default profile", nil, RunFacts{Pipeline: "release"},
			fmt.Sprintf(base, "none") + `profile:general {"nodeSelector":{"node-group":"general"}}`},
		{"a listed one replaces the default (P06)", []string{"arm64"}, RunFacts{"release", "prod"},
			fmt.Sprintf(base, "prod") + `profile:arm64 {"annotations":{"a":"for release"},"nodeSelector":{"kubernetes.io/arch":"arm64"}}`},
		{"in the listed order, each once, without unknown ones", []string{"large", "nil", "general", "large"}, RunFacts{"release", "prod"},
			fmt.Sprintf(base, "prod") + `profile:large {"nodeSelector":{"size":"large"}}` + "\n" + `profile:general {"nodeSelector":{"node-group":"general"}}`},
	}
	file := load(t, layered)
	for _, test := range tests {
		layers, findings := file.Layers(test.listed, test.facts)
		var got []string
		for _, l := range layers {
			got = append(got, l.String()+" "+toJSON(t, l.Fragment))
		}
		if text := strings.Join(got, "\n"); text != test.want || len(findings) > 0 {
			t.Errorf("%s: got\n%s\n%v\nwant\n%s", test.name, text, findings, test.want)
		}
	}
	if labels := file.Baseline.K8s.Value["labels"].(map[string]any); labels["team"] != "${{ run.pipeline }}" {
		t.Errorf("evaluating wrote to the file: %v", labels)
	}
}

// TestLocked holds that locks are on what both of the baseline's layers come to.
func TestLocked(t *testing.T) {
	file := load(t, layered)
	layers, _ := file.Layers(nil, RunFacts{})
	author := map[string]any{"containers": []any{map[string]any{"name": "step", "resources": map[string]any{"limits": map[string]any{"cpu": "4"}}}}}
	layers = append(layers, placement.Layer{Kind: placement.Resources, Fragment: author})
	result := placement.Compose(layers, file.Governs())
	all := result.Findings.All()
	if len(all) != 1 || all[0].Code != finding.LockedField || !strings.Contains(all[0].Message, `"500m"`) {
		t.Errorf("findings: %v", all)
	}
}

// TestLocate holds that each layer knows where it was written.
func TestLocate(t *testing.T) {
	layers, _ := load(t, layered).Layers(nil, RunFacts{})
	var got []string
	for i, path := range []string{`labels.team`, `containers[step].resources.requests.cpu`, `nodeSelector."node-group"`} {
		file, line, column := layers[i].Locate(placement.MustPath(path))
		got = append(got, fmt.Sprintf("%s:%d:%d", file, line, column))
	}
	if want := []string{"operator.yaml:5:14", "operator.yaml:6:15", "operator.yaml:11:26"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFailing has expressions that fail only when they are evaluated.
func TestFailing(t *testing.T) {
	file := load(t, `version: 1
placement_profiles:
  - name: a
    default: true
    k8s:
      labels: {team: "${{ run.pipeline.split('-')[1] }}", mixed: "${{ dyn(run.pipeline == 'x') }}"}
`)
	_, findings := file.Layers(nil, RunFacts{Pipeline: "plain"})
	const want = `operator.yaml:6:16: error: run.pipeline.split('-')[1]: index out of bounds: 1 (expression_failed)
operator.yaml:6:59: error: the expression yields no string (expression_type)
    fix: write ${{ string(...) }}
`
	if got := finding.Of(findings...).Text(nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEmpty(t *testing.T) {
	file := Empty()
	layers, findings := file.Layers([]string{"arm64"}, RunFacts{})
	if len(layers)+len(findings) > 0 || file.Profile("arm64") != nil || file.DefaultProfile() != nil ||
		file.Environment("prod") != nil || file.Pool("licence") != nil || file.PodSecurity != BaselineStandard {
		t.Errorf("%+v: %v, %v", file, layers, findings)
	}
}

func TestRegistry(t *testing.T) {
	file := load(t, "version: 1\nplacement_profiles: [{name: b, k8s: {}}, {name: a, k8s: {}}]\n"+
		"environments: [{name: d}, {name: c}]\npools: [{name: f, slots: 1}, {name: e, slots: 2}]\n")
	names := slices.Concat(file.ProfileNames(), file.EnvironmentNames(), file.PoolNames())
	if !slices.Equal(names, []string{"a", "b", "c", "d", "e", "f"}) {
		t.Errorf("names: %v", names)
	}
	if p, e, s := file.Profile("a"), file.Environment("c"), file.Pool("e"); p != &file.Profiles[1] || e != &file.Environments[1] || s.Slots != 2 {
		t.Errorf("found %v, %v, %v", p, e, s)
	}
}
