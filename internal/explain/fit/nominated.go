package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
)

// explain gives the verdicts, also with the pods that others had to make room for. To a pod that the
// scheduler has promised a node, pods of no higher priority yield there: they have to fit with it and, since
// it is not there yet, without it.
func (q *question) explain() []Verdict {
	filters := q.filters()
	verdicts := make([]Verdict, len(q.nodes))
	for i, n := range q.nodes {
		v := &verdicts[i]
		v.Node = n.Name
		for _, f := range filters {
			f(n, v)
		}
		if promised := q.promised(n); len(promised) > 0 {
			with := &question{q.fork(), q.pod, q.bound}
			for _, p := range promised {
				with.more = append(with.more, carry(p, n))
			}
			first := Verdict{Node: n.Name}
			for _, f := range with.filters() {
				f(n, &first)
			}
			first.also(v)
			*v = first
		}
	}
	return verdicts
}

// promised are the pods that the node is promised to, and that the pod has to yield to.
func (q *question) promised(n *node) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(q.nominated[n.Name]), func(p *corev1.Pod) bool {
		return same(p, q.pod) || schedulinghelpers.PodPriority(p) < schedulinghelpers.PodPriority(q.pod) ||
			q.moved[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}]
	})
}

// also adds what another look at the same node found, and the scheduler would not come to say.
func (v *Verdict) also(other *Verdict) {
	said := len(v.Reasons) > 0
	for _, r := range other.Reasons {
		if slices.ContainsFunc(v.Reasons, func(o Reason) bool { return o.Kind == r.Kind && o.Path == r.Path && o.Plugin == r.Plugin }) {
			continue
		}
		if said {
			r.Words = ""
		}
		v.add(r)
	}
	for _, u := range other.NotKnown {
		v.unknown(u.What, u.Why)
	}
}
