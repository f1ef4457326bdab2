package placement

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

func base(body string) Layer { return Layer{Kind: Baseline, Fragment: parse(body)} }
func prof(name, body string) Layer {
	return Layer{Kind: Profile, Name: name, Fragment: parse(body)}
}
func over(body string) Layer { return Layer{Kind: Overlay, Fragment: parse(body)} }

func parse(body string) map[string]any {
	var m map[string]any
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		panic(err)
	}
	return m
}

// composed is the fragment that layers come to, which must have no findings.
func composed(t *testing.T, layers ...Layer) map[string]any {
	t.Helper()
	result := Compose(layers, Governs{})
	if result.Findings.Len() > 0 {
		t.Errorf("findings:\n%s", result.Findings.Text(nil))
	}
	return result.Fragment
}

func wantFragment(t *testing.T, got map[string]any, want string) {
	t.Helper()
	if !equal(got, parse(want)) {
		t.Errorf("got\n%s\nwant\n%s", toYAML(t, got), toYAML(t, parse(want)))
	}
}

// What other systems got wrong, each with the issue in which it was reported.

// tekton#3569: a run that sets a security context lost the default's whole node selector.
func TestFieldsMergeOneByOne(t *testing.T) {
	wantFragment(t, composed(t,
		base(`{"nodeSelector": {"pool": "ci"}, "securityContext": {"fsGroup": 1}}`),
		over(`{"securityContext": {"runAsNonRoot": true}}`)),
		`{"nodeSelector": {"pool": "ci"}, "securityContext": {"fsGroup": 1, "runAsNonRoot": true}}`)
}

// kyverno#7327, tekton#7127, drone-runner-kube#92: adding a toleration dropped those that were there.
func TestTolerationIsAdded(t *testing.T) {
	wantFragment(t, composed(t,
		base(`{"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}]}`),
		prof("spot", `{"tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]}`)),
		`{"tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}, {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]}`)
}

// kyverno/policies#1235: a toleration was appended though it was there.
func TestNoTolerationTwice(t *testing.T) {
	wantFragment(t, composed(t,
		base(`{"tolerations": [{"key": "a", "operator": "Equal", "value": "b"}]}`),
		prof("p", `{"tolerations": [{"key": "a", "value": "b", "operator": ""}, {"value": "b", "key": "a", "effect": ""}]}`)),
		`{"tolerations": [{"key": "a", "operator": "Equal", "value": "b"}]}`)
}

// kyverno#10655: two spread constraints with one topology key fell into one.
func TestTwoSpreadConstraintsStay(t *testing.T) {
	wantFragment(t, composed(t,
		base(`{"topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2}]}`),
		prof("p", `{"topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}]}`)),
		`{"topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2},
			{"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}]}`)
}

// flyte#7548: the operator's affinity terms were appended to the user's, an OR that weakened both.
func TestAffinityOfTwoLayersIsAnAnd(t *testing.T) {
	required := func(key string) string {
		return `{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
			[{"matchExpressions": [{"key": "` + key + `", "operator": "Exists"}]}]}}}}`
	}
	wantFragment(t, composed(t, base(required("operators")), over(required("users"))),
		`{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
			[{"matchExpressions": [{"key": "operators", "operator": "Exists"}, {"key": "users", "operator": "Exists"}]}]}}}}`)
}

// dagster#33900: a tenant's selector beat the operator's.
func TestLockStandsAgainstAuthors(t *testing.T) {
	locks := Governs{Locked: []Path{MustPath("nodeSelector.pool")}}
	baseline := base(`{"nodeSelector": {"pool": "shared"}}`)
	for _, kind := range []Kind{Profile, Step, Resources, Overlay} {
		result := Compose([]Layer{baseline, {Kind: kind, Name: "p", Fragment: parse(`{"nodeSelector": {"pool": "control-plane"}}`)}}, locks)
		if all := result.Findings.All(); len(all) != 1 || all[0].Code != finding.LockedField || !result.Findings.HasErrors() {
			t.Errorf("%s: findings are %v", kind, all)
		}
	}
	same := Compose([]Layer{baseline, over(`{"nodeSelector": {"pool": "shared", "disk": "ssd"}}`)}, locks)
	if same.Findings.Len() > 0 {
		t.Errorf("what a lock is not about: %s", same.Findings.Text(nil))
	}
	for _, whole := range []string{`{"nodeSelector": null}`, `{"nodeSelector": {"$patch": "replace"}}`} {
		if result := Compose([]Layer{baseline, over(whole)}, locks); !result.Findings.HasErrors() {
			t.Errorf("%s removes what is locked", whole)
		}
	}
}

// A typed patch writes "containers": null for a field that it does not have, and strategic merge
// then deletes all containers. Fragments are untyped, and a null is never taken for nothing.
func TestNullContainersRemoveNoneUnnoticed(t *testing.T) {
	for _, kind := range []Kind{Builtin, Baseline, Profile, Step, Resources, Berth} {
		result := Compose([]Layer{{Kind: Step, Fragment: parse(`{"containers": [{"name": "step"}]}`)},
			{Kind: kind, Name: "p", Fragment: parse(`{"containers": null}`)}}, Governs{})
		wantFragment(t, result.Fragment, `{"containers": [{"name": "step"}]}`)
		if all := result.Findings.All(); len(all) != 1 || all[0].Code != finding.DeletionForbidden {
			t.Errorf("%s: findings are %v", kind, all)
		}
	}
}

// An affinity with too many alternatives is an error, and found before it costs anything.
func TestTooManyTerms(t *testing.T) {
	terms := func(key string, n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = `{"matchExpressions": [{"key": "` + key + strings.Repeat("x", i) + `", "operator": "Exists"}]}`
		}
		return `{"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [` + strings.Join(all, ",") + `]}}}}`
	}
	if fits := Compose([]Layer{base(terms("a", 8)), over(terms("b", 8))}, Governs{}); fits.Findings.Len() > 0 {
		t.Errorf("64 terms: %s", fits.Findings.Text(nil))
	}
	for _, layers := range [][]Layer{{base(terms("a", 65))}, {base(terms("a", 13)), over(terms("b", 5))}} {
		all := Compose(layers, Governs{}).Findings.All()
		if len(all) != 1 || all[0].Code != finding.AffinityTooLarge || all[0].Severity != finding.Error {
			t.Errorf("65 terms: %v", all)
		}
	}
}

// An origin's JSON is a contract.
func TestOriginJSON(t *testing.T) {
	result := Compose([]Layer{base(`{"nodeSelector": {"a.b/c": "x"}, "priority": 3}`), over(`{"nodeSelector": {"a.b/c": null}}`)}, Governs{})
	got, err := json.Marshal(result.Origins)
	if err != nil {
		t.Fatal(err)
	}
	// The selector is empty, which is a leaf, and has lost what was in it.
	const want = `[{"path":"nodeSelector","layers":["baseline","k8s_overlay"],"value":{},"rule":"object","replaced":[]},` +
		`{"path":"nodeSelector.\"a.b/c\"","layers":["k8s_overlay"],"value":null,"rule":"delete","replaced":[{"layer":"baseline","value":"x"}]},` +
		`{"path":"priority","layers":["baseline"],"value":3,"rule":"scalar","replaced":[]}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var back []Origin
	if err := json.Unmarshal(got, &back); err != nil || len(back) != 3 || back[1].Rule != RuleDelete ||
		!reflect.DeepEqual(back[1].Path, result.Origins[1].Path) {
		t.Errorf("read back: %v, %v", back, err)
	}
}

func TestRules(t *testing.T) {
	var names, sentences []string
	for _, r := range Rules() {
		var back Rule
		text, err := r.MarshalText()
		if err != nil || back.UnmarshalText(text) != nil || back != r {
			t.Errorf("%v is written %q and read %v, %v", r, text, back, err)
		}
		if r.Sentence() == "" || slices.Contains(names, r.String()) || slices.Contains(sentences, r.Sentence()) {
			t.Errorf("%s has no name or sentence of its own", r)
		}
		names, sentences = append(names, r.String()), append(sentences, r.Sentence())
	}
	if _, err := Rule(99).MarshalText(); err == nil || new(Rule).UnmarshalText([]byte("no")) == nil {
		t.Error("there is no such rule")
	}
}
