package placement

import (
	"slices"
	"strconv"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"pgregory.net/rapid"
)

// worlds has every node that the generator's expressions can tell apart: "" is a label that the
// node does not have.
func worlds() []map[string]string {
	values := []string{"", "0", "1", "01", "2", "02", "3", "x", "y", "z"}
	var all []map[string]string
	for _, a := range values {
		for _, b := range values {
			for _, c := range values {
				all = append(all, map[string]string{"a": a, "b": b, "c": c})
			}
		}
	}
	return all
}

// matches says whether a node's labels satisfy node selector terms, as the scheduler does it.
func matches(terms []any, labels map[string]string) bool {
	return slices.ContainsFunc(terms, func(t any) bool {
		exprs, _ := t.(map[string]any)["matchExpressions"].([]any)
		return len(exprs) > 0 && !slices.ContainsFunc(exprs, func(e any) bool { return !satisfied(e.(map[string]any), labels) })
	})
}

func satisfied(e map[string]any, labels map[string]string) bool {
	value := labels[e["key"].(string)]
	values, _ := e["values"].([]any)
	switch e["operator"] {
	case "In":
		return value != "" && slices.Contains(values, any(value))
	case "NotIn":
		return !slices.Contains(values, any(value))
	case "Exists":
		return value != ""
	case "DoesNotExist":
		return value == ""
	}
	has, err1 := strconv.Atoi(value)
	bound, err2 := strconv.Atoi(values[0].(string))
	return err1 == nil && err2 == nil && (e["operator"] == "Gt" && has > bound || e["operator"] == "Lt" && has < bound)
}

func requiredTerms(fragment map[string]any) ([]any, bool) {
	m := fragment
	for _, name := range []string{"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"} {
		m, _ = m[name].(map[string]any)
	}
	terms, ok := m["nodeSelectorTerms"].([]any)
	return terms, ok
}

// Required node affinity allows exactly the nodes that every layer allows; and a contradiction is
// reported exactly if, with the node selector, that is none.
func TestLawEveryDemandHolds(t *testing.T) {
	nodes := worlds()
	contradictions, tooLarge := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		layers := genLayers(t, false)
		result := Compose(layers, Governs{})
		code := func(c finding.Code) bool {
			return slices.ContainsFunc(result.Findings.All(), func(f finding.Finding) bool { return f.Code == c })
		}
		if code(finding.AffinityTooLarge) {
			tooLarge++
			return
		}
		terms, demanded := requiredTerms(result.Fragment)
		selector, _ := result.Fragment["nodeSelector"].(map[string]any)
		fits := 0
		for _, node := range nodes {
			every := true
			for _, l := range layers {
				if own, ok := requiredTerms(l.Fragment); ok && !matches(own, node) {
					every = false
				}
			}
			if got := !demanded || matches(terms, node); got != every {
				t.Fatalf("node %v: every layer allows it: %t, the result: %t\n%v", node, every, got, terms)
			}
			selected := true
			for k, v := range selector {
				selected = selected && node[k] == v
			}
			if every && selected {
				fits++
			}
		}
		if code(finding.PlacementImpossible) != (fits == 0) {
			t.Fatalf("%d nodes fit, findings are\n%v\nterms %v, selector %v", fits, result.Findings.Text(nil), terms, selector)
		}
		if fits == 0 {
			contradictions++
		}
	})
	if contradictions < 5 || tooLarge > 5 {
		t.Errorf("%d contradictions, %d too large: the generator is off", contradictions, tooLarge)
	}
}
