package placement

import (
	"slices"
	"strings"
	"testing"
)

// Two tolerations that differ only in where a colon is are two.
func TestIdentitiesDiffer(t *testing.T) {
	s := podSpec.Field("tolerations")
	a, _ := s.Identity(map[string]any{"key": "a:Equal:b", "value": "c"})
	b, _ := s.Identity(map[string]any{"key": "a", "value": "b:Equal:c"})
	c, _ := s.Identity(map[string]any{"key": `a\`, "value": "b"})
	d, _ := s.Identity(map[string]any{"key": "a", "operator": `\:Equal`, "value": "b"})
	if ids := []string{a, b, c, d}; len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("identities are %q", ids)
	}
}

// Terms stay in the order in which they were written, though short ones are looked at first.
func TestTermsKeepTheirOrder(t *testing.T) {
	const required = `{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
		{"matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]},
		{"matchExpressions": [{"key": "c", "operator": "Exists"}]}]}}}}`
	wantFragment(t, composed(t, base(required)), required)
}

// Each layer that is beaten in a list that layers share is beaten with what it had put there.
func TestAppendedItemsHaveTheirLayers(t *testing.T) {
	prefer := func(items string) string {
		return `{"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [` + items + `]}}}`
	}
	result := Compose([]Layer{base(prefer(`{"weight": 1}, {"weight": 2}`)), prof("p", prefer(`{"weight": 2}, {"weight": 3}`)),
		over(prefer(`{"$patch": "replace"}, {"weight": 4}`))}, Governs{})
	if len(result.Origins) != 1 {
		t.Fatal(result.Origins)
	}
	o := result.Origins[0]
	want := []any{
		map[string]any{"layer": "baseline", "value": []any{map[string]any{"weight": 1}, map[string]any{"weight": 2}}},
		map[string]any{"layer": "profile:p", "value": []any{map[string]any{"weight": 2}, map[string]any{"weight": 3}}},
	}
	if got, want := string(asJSON(o.Replaced)), string(asJSON(want)); got != want || !slices.Equal(o.Layers, []string{"k8s_overlay"}) {
		t.Errorf("%v beat\n%s\nwant\n%s", o.Layers, got, want)
	}
}

// Whoever changes the fragment of a result changes none of its origins.
func TestOriginsShareNothingWithTheFragment(t *testing.T) {
	result := Compose(typicalLayers(t), typicalGoverns)
	before := asJSON(result.Origins)
	scribble(result.Fragment)
	if after := asJSON(result.Origins); !slices.Equal(before, after) {
		t.Errorf("were\n%s\nare\n%s", before, after)
	}
}

// An expression that two layers demand is both layers' when it turns out that it can't hold.
func TestContradictionNamesAllLayers(t *testing.T) {
	const required = `{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
		{"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}]}}}}`
	result := Compose([]Layer{base(required), prof("p", required), over(`{"nodeSelector": {"a": "y"}}`)}, Governs{})
	const want = "nodeSelector a=y (k8s_overlay) and a In [x] (baseline, profile:p) disagree"
	if all := result.Findings.All(); len(all) != 1 || !strings.HasSuffix(all[0].Message, want) {
		t.Errorf("findings are %v, want %s", all, want)
	}
}
