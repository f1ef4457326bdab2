package fit

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

const (
	wordsAffinity = "node(s) didn't match pod affinity rules"
	wordsAnti     = "node(s) didn't match pod anti-affinity rules"
	wordsInverse  = "node(s) didn't satisfy existing pods anti-affinity rules"
)

// podAffinity finds the pods that the pod must be near to or apart from, and those that must be apart
// from it. The scheduler stops at the first of the three that fails.
func podAffinity(q *question) filter {
	near, err := affinityTerms(q.pod)
	apart, err2 := antiAffinityTerms(q.pod)
	if err == nil {
		err = err2
	}
	if err != nil {
		return always(Reason{Kind: Contradiction, Plugin: PluginPodAffinity, Path: "spec.affinity",
			Words: "parsing pod: " + err.Error(), text: "its affinity can't be read: " + err.Error(), stage: before})
	}
	filters := []filter{q.near(near), q.apart(apart), q.repelled()}
	return func(n *node, v *Verdict) {
		quiet := false
		for _, f := range filters {
			from := len(v.Reasons)
			if f != nil {
				f(n, v)
			}
			for i := from; quiet && i < len(v.Reasons); i++ {
				v.Reasons[i].Words = ""
			}
			quiet = quiet || len(v.Reasons) > from
		}
	}
}

// hits are the pods that a term means in one domain.
type hits struct {
	first *carried
	count int
}

func (h *hits) add(c *carried) {
	if h.count++; h.first == nil {
		h.first = c
	}
}

// hit counts a pod in the domain of its node, if that is in one.
func hit(domains map[string]*hits, c *carried, key string) {
	value, there := c.node.Labels[key]
	if !there {
		return
	}
	if domains[value] == nil {
		domains[value] = &hits{}
	}
	domains[value].add(c)
}

// meant gives the pods that all of the terms mean; for terms of the pod that asks.
func (q *question) meant(terms []podTerm, found func(*carried)) {
	scopes := make([]map[string]bool, len(terms)) // nil is everywhere
	for i := range terms {
		scopes[i], _ = terms[i].in(q.index)
	}
	matches := func(c *carried) bool {
		for i := range terms {
			if scopes[i] != nil && !scopes[i][c.Namespace] || !terms[i].selector.Matches(labels.Set(c.Labels)) {
				return false
			}
		}
		return true
	}
	if scopes[0] == nil || len(scopes[0]) > 8 {
		for c := range q.all() {
			if matches(c) {
				found(c)
			}
		}
		return
	}
	for _, namespace := range sortedKeys(scopes[0]) {
		for c := range q.in(namespace) {
			if matches(c) {
				found(c)
			}
		}
	}
}

// near finds the terms of the pod's affinity in whose domain there is no pod that all of them mean.
func (q *question) near(terms []podTerm) filter {
	if len(terms) == 0 {
		return nil
	}
	domains := make([]map[string]*hits, len(terms))
	about := make([]string, len(terms))
	for i := range terms {
		domains[i], about[i] = map[string]*hits{}, terms[i].about()
	}
	somewhere := false
	q.meant(terms, func(c *carried) {
		for i := range terms {
			hit(domains[i], c, terms[i].key)
			somewhere = somewhere || len(domains[i]) > 0
		}
	})
	// The first of a group that wants to be together may go anywhere where the keys are.
	first := !somewhere && q.itself(terms)
	known := q.Pods != nil && (q.Namespaces != nil || !slices.ContainsFunc(terms, func(t podTerm) bool { return t.choosesNamespaces() }))
	return func(n *node, v *Verdict) {
		for i := range terms {
			t := &terms[i]
			value, there := n.Labels[t.key]
			r := Reason{Kind: PodAffinity, Plugin: PluginPodAffinity, Path: t.path, Words: wordsAffinity, text: about[i], Topology: &Topology{t.key, value, there}}
			switch {
			case !there:
				r.Kind = TopologyMissing
				v.add(r)
			case known && !first && domains[i][value] == nil:
				r.nowhere = !somewhere
				v.add(r)
			}
		}
		v.namespacesFor(q, terms)
	}
}

// itself says whether the pod is what its own terms mean.
func (q *question) itself(terms []podTerm) bool {
	for i := range terms {
		names, all := terms[i].in(q.index)
		if !all && !names[q.pod.Namespace] || !terms[i].selector.Matches(labels.Set(q.pod.Labels)) {
			return false
		}
	}
	return true
}

// namespacesFor says that terms choose namespaces by labels that could not be read.
func (v *Verdict) namespacesFor(q *question, terms []podTerm) {
	for i := range terms {
		if q.Namespaces == nil && terms[i].choosesNamespaces() {
			v.unknown("namespaces", "they could not be read, and "+terms[i].path+" chooses some by their labels")
		}
	}
}

// namespaceLabels are those of the pod's own namespace; none if it is not known.
func (q *question) namespaceLabels() labels.Set {
	if n := q.namespaces[q.pod.Namespace]; n != nil {
		return n.Labels
	}
	return nil
}
