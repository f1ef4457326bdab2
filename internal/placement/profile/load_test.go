package profile

import (
	"slices"
	"testing"
)

// TestPaths holds that a finding says which field it is about, wherever it was found.
func TestPaths(t *testing.T) {
	_, findings := Load("operator.yaml", []byte(`version: 1
baseline:
  k8s: {tolerations: [{key: a, operator: Exists}], labels: {a: "${{ x }}"}}
  resources: {nvidia.com/gpu: 1}
  locked: [tolerations, a..b]
placement_profiles:
  - {name: A, k8s: {priorityClassName: {}}}
  - {name: b, k8s: {tolerations: [{key: a, operator: Exists, tolerationSeconds: 1}]}}
environments:
  - name: prod
    allow: {identities: ["", a]}
    permits: {k8s_overlay: ["b["], placement_profiles: [c], secrets: [A], claims: [C]}
pools: [{name: p, slots: 0}]
`))
	var got []string
	for _, f := range findings.All() {
		got = append(got, f.Path)
	}
	want := []string{
		"baseline.k8s.labels.a",
		`baseline.resources."nvidia.com/gpu"`,
		"baseline.locked[1]",
		"placement_profiles[A].name",
		"placement_profiles[A].k8s.priorityClassName",
		"placement_profiles[b].k8s.tolerations",
		"environments[prod].allow.identities[0]",
		"environments[prod].permits.k8s_overlay[0]",
		"environments[prod].permits.placement_profiles[0]",
		"environments[prod].permits.secrets[0]",
		"environments[prod].permits.claims[0]",
		"pools[p].slots",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestRevision(t *testing.T) {
	// printf 'version: 1\n' | sha256sum
	const want = "09bfcc6a14b83e2192b8673677725c84883ee9cd0c70e45c9ec09daa8f2b2847"
	if got := load(t, "version: 1\n").Revision; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
