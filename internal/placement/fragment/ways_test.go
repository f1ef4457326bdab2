package fragment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

func read(t testing.TB, text string, rules Rules) (Fragment, finding.List) {
	n, list := source.Parse("f.yaml", []byte(text))
	if n == nil || list.Len() > 0 {
		t.Fatalf("not read at all: %s\n%s", text, list.Text(nil))
	}
	return Read(n, rules)
}

// TestWaysAround has what an author might try to get at what is not theirs. Each is refused, and even
// if it were not, would do nothing.
func TestWaysAround(t *testing.T) {
	ways := []struct {
		name, overlay string
		code          finding.Code
	}{
		{"a node of one's own", `nodeName: n`, finding.ReservedField},
		{"a node of one's own, by an expression that was evaluated", `nodeName: "${{ x }}"`, finding.ReservedField},
		{"a permit for affinity used to reach affinity of another key by a mis-cased path", `Affinity: {nodeAffinity: {}}`, finding.UnknownField},
		{"a mis-cased key below a key that is permitted", `affinity: {NodeAffinity: {}}`, finding.UnknownField},
		{"a reserved field, mis-cased", `NodeName: n`, finding.UnknownField},
		{"a reserved field, with a blank", `"nodeName ": n`, finding.UnknownField},
		{"a pod spec around the pod spec", `spec: {nodeName: n}`, finding.FragmentRoot},
		{"metadata around the labels", `metadata: {labels: {berth.dev/run: x}}`, finding.FragmentRoot},
		{"another image for the step", `containers: [{name: step, image: x}]`, finding.ReservedField},
		{"another image for the step, mis-cased", `containers: [{name: step, Image: x}]`, finding.UnknownField},
		{"no container step: null", `containers: null`, finding.ReservedField},
		{"no container step: replace", `containers: [{$patch: replace}]`, finding.ReservedField},
		{"no container step: replace, among others", `containers: [{name: a, image: b}, {$patch: replace}]`, finding.ReservedField},
		{"no container step: delete", `containers: [{$patch: delete, name: step}]`, finding.ReservedField},
		{"no container step: delete, with more beside it", `containers: [{$patch: delete, name: step, tty: true}]`, finding.ReservedField},
		{"no container step: replace, in its own item", `containers: [{name: step, $patch: replace}]`, finding.DirectiveMisplaced},
		{"no container step: a map in place of the list", `containers: {$patch: replace}`, finding.WrongType},
		{"no container step: a string in place of the list", `containers: none`, finding.WrongType},
		{"a second container step", `initContainers: [{name: step, image: x}]`, finding.ReservedField},
		{"no image: null", `containers: [{name: step, image: null}]`, finding.ReservedField},
		{"variables of Berth", `containers: [{name: step, env: [{name: BERTH_OUTPUT, value: /x}]}]`, finding.ReservedField},
		{"variables of Berth, removed", `containers: [{name: step, env: [{name: BERTH_OUTPUT, $patch: delete}]}]`, finding.ReservedField},
		{"variables of Berth, from a config map", `containers: [{name: step, envFrom: [{prefix: BERTH_, configMapRef: {name: c}}]}]`, finding.ReservedField},
		{"labels of Berth", `labels: {berth.dev/run: x}`, finding.ReservedField},
		{"labels of Berth, removed", `labels: {berth.dev/run: null}`, finding.ReservedField},
		{"labels of Berth, below its domain", `annotations: {a.b.berth.dev/x: y}`, finding.ReservedField},
		{"labels of Berth on a claim", `volumes: [{name: v, ephemeral: {volumeClaimTemplate: {metadata: {annotations: {berth.dev/x: y}}}}}]`, finding.ReservedField},
		{"a sidecar that holds up the pod", `initContainers: [{name: db, restartPolicy: null}]`, finding.ReservedField},
		{"a string that says Always", `initContainers: [{name: db, restartPolicy: "${{ x }}"}]`, finding.ReservedField},
		{"a directive at the root", `$patch: replace`, finding.DirectiveAtRoot},
		{"a directive that is no string", `labels: {$patch: .nan}`, finding.NumberOutOfRange},
		{"another directive", `$retainKeys: [containers]`, finding.DirectiveUnknown},
	}
	for _, way := range ways {
		rules := Rules{Layer: placement.Overlay}
		f, list := read(t, way.overlay, rules)
		result := compose(f, rules)
		list.Join(result.Findings)
		if list.Len() != 1 || list.All()[0].Code != way.code || !list.HasErrors() {
			t.Errorf("%s: want one error, %s, got\n%s", way.name, way.code, list.Text(nil))
		}
		if why := falls(result.Fragment); why != "" {
			t.Errorf("%s: %s", way.name, why)
		}
	}
}

// falls says what of Berth's own is not as the layer below had it.
func falls(pod map[string]any) string {
	steps := 0
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := pod[list].([]any)
		for _, c := range containers {
			o := c.(map[string]any)
			if o["name"] == stepName {
				steps++
				if o["image"] != "i" {
					return "the step's image is another"
				}
			}
		}
	}
	if steps != 1 {
		return "there is not exactly one container step"
	}
	for name := range reservedOfPod {
		if _, ok := pod[name]; ok {
			return "there is a " + name
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		m, _ := pod[field].(map[string]any)
		for name := range m {
			if strings.Contains(name, ownDomain+"/") && !strings.Contains(name, "not"+ownDomain) {
				return "there is " + name + " in " + field
			}
		}
	}
	return ""
}

func TestLocate(t *testing.T) {
	f, _ := read(t, `labels: {a.b/c: d}
tolerations:
  - {key: a, operator: Exists}
  - {value: x,
     key: b}
containers:
  - name: step
    env:
      - name: A
        value: v
  - image: nameless
dnsConfig: {searches: [x, y]}
topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule}]
`, Rules{Layer: placement.Overlay})
	for path, want := range map[string][2]int{
		`labels`:                            {1, 1},
		`labels."a.b/c"`:                    {1, 10},
		`labels."a.b/c".below`:              {1, 10},
		`labels["a.b/c"]`:                   {1, 1}, // nothing else is an item
		`labels.other`:                      {1, 1},
		`hostNetwork`:                       {1, 1},
		`tolerations[a:Exists::]`:           {3, 5},
		`tolerations[b:Equal:x:]`:           {4, 5},
		`tolerations[b:Equal:x:].key`:       {5, 6},
		`tolerations[gone:Exists::].effect`: {2, 1},
		`containers[step].env[A].value`:     {10, 9},
		`containers[step].env[B]`:           {8, 5},
		`containers[1].image`:               {11, 5},
		`dnsConfig.searches[1]`:             {12, 27},
		`topologySpreadConstraints[z:DoNotSchedule].maxSkew`: {13, 29},
	} {
		if file, line, column := f.Locate(placement.MustPath(path)); file != "f.yaml" || line != want[0] || column != want[1] {
			t.Errorf("%s is at %s:%d:%d, want %v", path, file, line, column, want)
		}
	}
	var _ placement.Locator = f.Locate
	if file, line, column := (Fragment{}).Locate(placement.MustPath("labels")); file != "" || line != 0 || column != 0 {
		t.Errorf("nothing was written, and it is at %s:%d:%d", file, line, column)
	}
}

// TestLong has what takes minutes where each finding searches all that its path leads through.
func TestLong(t *testing.T) {
	const many = 15_000
	var items, keys strings.Builder
	for i := range many {
		fmt.Fprintf(&items, "- {key: k%d, $patch: delete}\n", i)
		fmt.Fprintf(&keys, ", k%d: null", i)
	}
	for text, want := range map[string]int{
		"tolerations:\n" + items.String():                                  many,
		"quux: {a: 1" + keys.String() + "}":                                many + 1,
		"containers: [{name: c" + keys.String() + "}]":                     2 * many,
		"containers: [{env: []" + keys.String() + ", name: step, tty: 1}]": 2*many + 1,
	} {
		rules := Rules{Layer: placement.Profile}
		n, parsed := source.Parse("f.yaml", []byte(text))
		_, list, f := all(n, rules)
		if parsed.Len() > 0 || list.Len() != want {
			t.Errorf("%.30s: %d findings, want %d", text, list.Len(), want)
		}
		if _, line, _ := f.Locate(placement.MustPath("tolerations[k7:Equal::]")); strings.HasPrefix(text, "tol") && line != 9 {
			t.Errorf("an item of a long list is in line %d", line)
		}
	}
}

// TestLongTwice: of two items with one key a path leads to the first, however long the list is.
func TestLongTwice(t *testing.T) {
	text := "tolerations:\n" + strings.Repeat("- {key: a}\n- {key: b}\n", short)
	f, _ := read(t, text, Rules{Layer: placement.Overlay})
	if _, line, _ := f.Locate(placement.MustPath("tolerations[b:Equal::]")); line != 3 {
		t.Errorf("in line %d, want the first of them, in line 3", line)
	}
}

// TestPaths holds the paths of findings to those that Locate finds again.
func TestPaths(t *testing.T) {
	const fragment = `tolerations: [{key: workload-type, operator: Equal, value: batch, effect: 1}]`
	_, list := read(t, fragment, Rules{Layer: placement.Overlay, Path: "steps[build].k8s_overlay"})
	const want = "steps[build].k8s_overlay.tolerations[workload-type:Equal:batch:1].effect"
	if list.Len() != 1 || list.All()[0].Path != want {
		t.Errorf("got %v, want one at %s", list.All(), want)
	}
}

func TestNothingWritten(t *testing.T) {
	f, list := Read(nil, Rules{Layer: placement.Overlay})
	if f.Value != nil || f.Node != nil || list.Len() > 0 {
		t.Errorf("got %v, %v", f, list)
	}
}
