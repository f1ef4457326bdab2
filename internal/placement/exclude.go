package placement

import (
	"slices"
	"strconv"
	"strings"
)

// NodeDemand is what a pod demands of its node's labels and name: nodeSelector, and required node affinity. What
// Berth does not understand of it is left out, so that it can only seem to demand less.
type NodeDemand struct {
	id    string
	terms []term // alternatives; one without expressions demands nothing
}

// DemandOf gives the demand of a composed fragment, which is not written to.
func DemandOf(fragment map[string]any) NodeDemand {
	selector := writtenSelector(fragment["nodeSelector"])
	alternatives, err := parseTerms(writtenTerms(fragment), "")
	if err != nil || len(alternatives) == 0 {
		alternatives = []term{nil}
	}
	var d NodeDemand
	ids := make([]string, len(alternatives))
	for i, t := range alternatives {
		d.terms = append(d.terms, selector.and(t))
		ids[i] = d.terms[i].identity()
	}
	slices.Sort(ids)
	d.id = strings.Join(slices.Compact(ids), "\n")
	return d
}

// ID is equal for demands that are written alike, but for their order.
func (d NodeDemand) ID() string { return d.id }

// Alternatives is how many terms there are to look at.
func (d NodeDemand) Alternatives() int { return len(d.terms) }

// Excludes says why no node can satisfy both demands, whatever its labels; "" if one could, or if in doubt.
func (d NodeDemand) Excludes(o NodeDemand) string {
	var first term
	for _, t := range d.terms {
		for _, u := range o.terms {
			culprits := t.and(u).conflict()
			if culprits == nil {
				return ""
			}
			if first == nil {
				first = culprits
			}
		}
	}
	parts := make([]string, len(first))
	for i, e := range first {
		parts[i] = e.String()
	}
	return strings.Join(parts, " and ")
}

// Exclude says why no node can take both pods, of composed fragments; see NodeDemand.
func Exclude(a, b map[string]any) string { return DemandOf(a).Excludes(DemandOf(b)) }

// identity is equal for terms that have the same expressions.
func (t term) identity() string {
	ids := make([]string, len(t))
	for i, e := range t {
		ids[i] = e.id
	}
	slices.Sort(ids)
	return strings.Join(ids, "\t")
}

// writtenSelector is selectorTerm of a composed fragment.
func writtenSelector(v any) term {
	selector, _ := v.(map[string]any)
	var t term
	for _, key := range sortedKeys(selector) {
		if value, ok := selector[key].(string); ok {
			t = append(t, &expression{id: "nodeSelector " + strconv.Quote(key) + " " + strconv.Quote(value), key: key, op: "In", values: []string{value}, selector: true})
		}
	}
	return t
}

func writtenTerms(fragment map[string]any) []any {
	var v any = fragment
	for _, s := range requiredPath {
		o, _ := v.(map[string]any)
		v = o[s.Name]
	}
	list, _ := v.([]any)
	return list
}
