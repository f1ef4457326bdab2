package reduce

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// term is a term of a node affinity, before it is flattened.
type term []observer.NodeExpression

func (t *trimmer) nodeAffinity(a *corev1.NodeAffinity, daemon bool) []observer.NodeExpression {
	t.field = "node_affinity"
	if a == nil {
		return nil
	}
	var required, preferred []term
	n := 0 // expressions so far, by which drops are told apart
	if r := a.RequiredDuringSchedulingIgnoredDuringExecution; r != nil && !(daemon && pinned(r)) {
		for i := range r.NodeSelectorTerms {
			required = append(required, t.term(&r.NodeSelectorTerms[i], true, 0, &n))
		}
		if len(r.NodeSelectorTerms) == 0 {
			required = append(required, nothing())
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		p := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		// A preference without expressions prefers nothing.
		if e := t.term(&p.Preference, false, p.Weight, &n); len(e) > 0 {
			preferred = append(preferred, e)
		}
	}
	if n > MostTerms {
		t.drops = slices.DeleteFunc(t.drops, func(d Drop) bool { return d.Field == t.field })
		t.drop(true, "")
		return nil
	}
	return append(flat(required), flat(preferred)...)
}

// nothing is a term that matches no node. Without a trace of it, it would read as if there were no term.
func nothing() term { return term{{Operator: observer.OperatorNothing, Required: true}} }

func (t *trimmer) term(s *corev1.NodeSelectorTerm, required bool, weight int32, n *int) term {
	if required && len(s.MatchExpressions)+len(s.MatchFields) == 0 {
		*n++
		return nothing()
	}
	var made term
	add := func(r *corev1.NodeSelectorRequirement, field bool) {
		*n++
		if !t.fits(r.Key, MostKey, "key", *n) || !t.fits(string(r.Operator), t.text(), "operator", *n) {
			return
		}
		made = append(made, observer.NodeExpression{Key: r.Key, Operator: string(r.Operator), Values: t.values(r.Values, field, *n),
			Required: required, Weight: weight, Field: field})
	}
	for i := range s.MatchExpressions {
		add(&s.MatchExpressions[i], false)
	}
	for i := range s.MatchFields {
		add(&s.MatchFields[i], true)
	}
	return sorted(made)
}

// values are a set. If one of them can't be said, none is: the others would read as all.
func (t *trimmer) values(all []string, field bool, n int) []string {
	most := t.text()
	if field {
		most = MostName
	}
	if len(all) > MostValues || slices.ContainsFunc(all, func(v string) bool { return len(v) > most }) {
		t.drop(false, fmt.Sprintf("values %d", n))
		return nil
	}
	made := slices.Clone(all)
	slices.Sort(made)
	return slices.Compact(made)
}

// flat lists the expressions of all terms, each with the number of its term.
func flat(terms []term) []observer.NodeExpression {
	var all []observer.NodeExpression
	several := len(terms) > 1
	for i, t := range sorted(terms) {
		for _, e := range t {
			if several {
				e.Term = i + 1
			}
			all = append(all, e)
		}
	}
	return all
}

// pinned says whether the terms are those that the DaemonSet controller puts into each of its pods, in place
// of whatever was there: the name of the pod's node
// (ReplaceDaemonSetPodNodeNameNodeAffinity in k8s.io/kubernetes/pkg/controller/daemon/util).
func pinned(s *corev1.NodeSelector) bool {
	if len(s.NodeSelectorTerms) != 1 {
		return false
	}
	t := &s.NodeSelectorTerms[0]
	if len(t.MatchExpressions) != 0 || len(t.MatchFields) != 1 {
		return false
	}
	f := &t.MatchFields[0]
	return f.Key == metav1.ObjectNameField && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1
}
