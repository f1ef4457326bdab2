package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

var (
	requiredPath = MustPath("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
	selectorPath = MustPath("nodeSelector")
)

// contradictions reports that no node can satisfy the pod's placement, whatever its labels.
func (m *merger) contradictions(root *node) {
	required := root.find(requiredPath)
	if required == nil || required.form != formTerms || len(required.terms.parts) == 0 {
		return // nothing is demanded, or nothing that was understood
	}
	d := &required.terms
	if len(d.terms) == 0 {
		m.impossible("a list without terms, or with empty ones alone, matches nothing (" + noTerms(d) + ")")
		return
	}
	selector := selectorTerm(root.find(selectorPath))
	var reasons []string
	for _, t := range d.terms {
		reason := selector.and(t).disagreement()
		if reason == "" {
			return
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	m.impossible(strings.Join(reasons, "; and "))
}

func (m *merger) impossible(why string) {
	m.findings = append(m.findings, finding.Finding{Code: finding.PlacementImpossible, Severity: finding.Error,
		Path: requiredPath.String(), Message: "no node can satisfy this, whatever its labels: " + why})
}

// find gives the node at a path of fields, nil if it is not there or was removed.
func (n *node) find(p Path) *node {
	for _, s := range p {
		if n = n.fields[s.Name]; n == nil || !n.alive {
			return nil
		}
	}
	return n
}

// noTerms names the layers that leave no term.
func noTerms(d *demand) string {
	var layers []string
	for _, p := range d.parts {
		if len(p.terms) == 0 && !slices.Contains(layers, p.layer) {
			layers = append(layers, p.layer)
		}
	}
	return strings.Join(layers, ", ")
}

// selectorTerm is a node selector as a term: what it demands is In with one value.
func selectorTerm(n *node) term {
	if n == nil {
		return nil
	}
	var t term
	for _, key := range sortedKeys(n.fields) {
		field := n.fields[key]
		if value, ok := field.value.(string); ok && field.alive {
			t = append(t, &expression{id: "nodeSelector " + key, key: key, op: "In", values: []string{value}, layers: field.layers, selector: true})
		}
	}
	return t
}

// disagreement says why no node can satisfy the term, with the fewest expressions that show it; ""
// if a node with the right labels would.
func (t term) disagreement() string {
	if culprits := t.conflict(); culprits != nil {
		return culprits.String()
	}
	return ""
}

// conflict gives the fewest expressions that show that no node can satisfy the term; nil if one could.
func (t term) conflict() term {
	byKey := map[string]term{}
	for _, e := range t {
		key := e.key
		if e.isField {
			key = "\x00" + key // fields and labels are told apart
		}
		byKey[key] = append(byKey[key], e)
	}
	for _, key := range sortedKeys(byKey) {
		if culprits := byKey[key].culprits(); culprits != nil {
			return culprits
		}
	}
	return nil
}

// culprits gives one expression that nothing satisfies, else two, else all; nil if all of them
// together can be satisfied. All are about one key.
func (t term) culprits() term {
	for _, e := range t {
		if one := (term{e}); !satisfiable(one) {
			return one
		}
	}
	for i, e := range t {
		for _, f := range t[i+1:] {
			if two := (term{e, f}); !satisfiable(two) {
				return two
			}
		}
	}
	if !satisfiable(t) {
		return t
	}
	return nil
}

// String names each expression with its layers.
func (t term) String() string {
	parts := make([]string, len(t))
	for i, e := range t {
		parts[i] = fmt.Sprintf("%s (%s)", e, strings.Join(e.layers, ", "))
	}
	switch len(parts) {
	case 1:
		return parts[0] + " is satisfied by nothing"
	case 2:
		return parts[0] + " and " + parts[1] + " disagree"
	default:
		return strings.Join(parts, " and ") + " can't all hold"
	}
}

func (e *expression) String() string {
	switch {
	case e.selector:
		return "nodeSelector " + e.key + "=" + e.values[0]
	case e.op == "Exists" || e.op == "DoesNotExist":
		return e.key + " " + e.op
	default:
		return e.key + " " + e.op + " [" + strings.Join(e.values, ", ") + "]"
	}
}
