package fit

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// affinity says why none of the terms of the required node affinity matches. Terms are ORed, the
// requirements of a term ANDed.
func affinity(pod *corev1.PodSpec, node *corev1.Node) []Reason {
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return nil
	}
	required := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	terms := make([]Term, len(required.NodeSelectorTerms))
	for i, t := range required.NodeSelectorTerms {
		terms[i] = unmet(t, node)
		empty := len(t.MatchExpressions)+len(t.MatchFields) == 0 // which matches nothing
		if len(terms[i].Unmet) == 0 && !empty {
			return nil
		}
	}
	return []Reason{{Kind: NodeAffinity, Terms: terms}}
}

// unmet asks for each requirement as if it were alone, so that all that fail are found. A term
// matches if each of its requirements would.
func unmet(t corev1.NodeSelectorTerm, node *corev1.Node) Term {
	var term Term
	for _, e := range t.MatchExpressions {
		has, there := node.Labels[e.Key]
		r := Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values, Has: has, There: there}
		term.add(r, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}}, node)
	}
	for _, e := range t.MatchFields { // metadata.name is the only one there is
		r := Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values, Field: true, Has: node.Name, There: node.Name != ""}
		term.add(r, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{e}}, node)
	}
	return term
}

// add adds the requirement if it fails; alone is a term that is made of it.
func (t *Term) add(r Requirement, alone corev1.NodeSelectorTerm, node *corev1.Node) {
	selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{alone}}
	matches, err := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(node)
	if err != nil {
		r.Invalid = true
	}
	if !matches {
		t.Unmet = append(t.Unmet, r)
	}
}
