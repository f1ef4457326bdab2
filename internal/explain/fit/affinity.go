package fit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// affinity is a pod's required node affinity. Terms are ORed, the requirements of a term ANDed.
type affinity struct {
	terms []affinityTerm
	// names is what the terms leave of the nodes' names, if each of them pins some: the scheduler then
	// looks at no other nodes. Nil if not.
	names map[string]bool
	void  bool // no node whatever can match
	pins  bool // each term names nodes, by metadata.name or the hostname label
}

type affinityTerm struct {
	wants []wanted
	void  bool // empty, or with a requirement that is invalid
}

// wanted is a requirement as if it were alone, so that all that fail are found. A term matches if each of
// its requirements would.
type wanted struct {
	Requirement
	alone *nodeaffinity.LazyErrorNodeSelector
}

// requiredAffinity is nil if the pod has none.
func requiredAffinity(pod *corev1.Pod) *affinity {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return nil
	}
	a := &affinity{void: true, pins: len(required.NodeSelectorTerms) > 0, names: namesOf(required.NodeSelectorTerms)}
	for i := range required.NodeSelectorTerms {
		t := newTerm(&required.NodeSelectorTerms[i])
		a.terms = append(a.terms, t)
		a.void = a.void && t.void
		a.pins = a.pins && slices.ContainsFunc(t.wants, func(w wanted) bool { return w.pins() })
	}
	if a.names != nil && len(a.names) == 0 {
		a.void = true
	}
	return a
}

func newTerm(t *corev1.NodeSelectorTerm) affinityTerm {
	term := affinityTerm{void: len(t.MatchExpressions)+len(t.MatchFields) == 0} // an empty one matches nothing
	add := func(r corev1.NodeSelectorRequirement, field bool, alone corev1.NodeSelectorTerm) {
		selector := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{alone}}
		_, err := nodeaffinity.NewNodeSelector(selector)
		term.void = term.void || err != nil
		term.wants = append(term.wants, wanted{
			Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values, Field: field, Invalid: err != nil},
			nodeaffinity.NewLazyErrorNodeSelector(selector)})
	}
	for _, r := range t.MatchExpressions {
		add(r, false, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{r}})
	}
	for _, r := range t.MatchFields { // metadata.name is the only one there is
		add(r, true, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{r}})
	}
	return term
}

func (w *wanted) pins() bool {
	return w.Operator == corev1.NodeSelectorOpIn && (w.Field || w.Key == corev1.LabelHostname)
}

// namesOf is as the scheduler's plugin has it: within a term names are intersected, and a term that pins
// none lets in all nodes.
func namesOf(terms []corev1.NodeSelectorTerm) map[string]bool {
	if len(terms) == 0 {
		return nil
	}
	all := map[string]bool{}
	for _, t := range terms {
		var names []string
		pinned := false
		for _, r := range t.MatchFields {
			if r.Key != "metadata.name" || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if !pinned {
				names, pinned = slices.Clone(r.Values), true
				continue
			}
			names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(r.Values, n) })
		}
		if !pinned {
			return nil
		}
		for _, n := range names {
			all[n] = true
		}
	}
	return all
}

// on holds the affinity against a node.
func (a *affinity) on(n *corev1.Node) (Reason, bool) {
	terms := make([]Term, len(a.terms))
	for i := range a.terms {
		terms[i] = a.terms[i].unmet(n)
		if len(terms[i].Unmet) == 0 && len(a.terms[i].wants) > 0 {
			return Reason{}, false
		}
	}
	r := Reason{Kind: NodeAffinity, Plugin: PluginNodeAffinity, Path: nodeAffinityPath, Terms: terms, Words: wrongLabels}
	switch {
	case a.void:
		r.Kind = Contradiction
	case a.pins && !slices.ContainsFunc(terms, func(t Term) bool { return !t.missesPin() }):
		r.Kind, r.Name = NodeName, strings.Join(a.pinned(), ", ")
	}
	switch {
	case a.names == nil || a.names[n.Name]:
	case len(a.names) == 0:
		r.Words, r.stage = "pod affinity terms conflict", before
	default:
		r.Words, r.stage = "node(s) didn't satisfy plugin(s) [NodeAffinity]", narrowed
	}
	return r, true
}

func (t *affinityTerm) unmet(n *corev1.Node) Term {
	var term Term
	for i := range t.wants {
		w := &t.wants[i]
		if matches, _ := w.alone.Match(n); !matches {
			r := w.Requirement
			if r.Field {
				r.Has, r.There = n.Name, n.Name != ""
			} else {
				r.Has, r.There = n.Labels[r.Key]
			}
			term.Unmet = append(term.Unmet, r)
		}
	}
	return term
}

// missesPin says whether the term fails since it names other nodes.
func (t *Term) missesPin() bool {
	return slices.ContainsFunc(t.Unmet, func(r Requirement) bool { return (&wanted{Requirement: r}).pins() })
}

// pinned are the names that the terms give.
func (a *affinity) pinned() []string {
	var names []string
	for _, t := range a.terms {
		for _, w := range t.wants {
			if w.pins() {
				names = append(names, w.Values...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
