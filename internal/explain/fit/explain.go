package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Verdict is whether a pod fits a node.
type Verdict struct {
	Node    string
	Reasons []Reason // all of them, in the order of the scheduler's plugins
	// NotKnown is what would have to be known beside the reasons. While there are none, the pod may fit.
	NotKnown []Unknown
	// Notes are true of the pod and the node, and no obstacle: a cordon that is tolerated, a rule that is
	// void since the node lacks its topology key.
	Notes []Reason
}

// Fits says that nothing stands between the pod and the node, and that all is known.
func (v *Verdict) Fits() bool { return len(v.Reasons)+len(v.NotKnown) == 0 }

// Unknown is something that no verdict was given on.
type Unknown struct {
	What string // "pods", "device claims"
	Why  string
}

// question is a pod that asks all nodes at once.
type question struct {
	*Snapshot
	pod   *corev1.Pod
	bound bool // it is on a node already, and asks as if it were not
}

// filter adds to a verdict what a plugin of the scheduler would say of a node. A filter is made once for
// a question, which is when it counts what is there to count; it is nil if it has nothing to say.
type filter func(*node, *Verdict)

// Explain gives a verdict for each node, by the node's name. If the pod itself is in the snapshot and bound,
// it is left out of what its node carries, and its nodeName is no reason. The pod is as the API server has
// it: with requests where there are only limits, and with what admission adds.
func (s *Snapshot) Explain(pod *corev1.Pod) []Verdict {
	without, bound := s.without(pod)
	q := &question{without, pod, bound}
	return q.explain()
}

// filters are those that have something to say of the pod, in the order of the scheduler's plugins.
func (q *question) filters() []filter {
	var filters []filter
	for _, plugin := range []func(*question) filter{
		pods, gates, nodeName, taints, nodeLabels, ports, resources, restrictions, limits, binding, zones, spread, podAffinity, devices, features,
	} {
		if f := plugin(q); f != nil {
			filters = append(filters, f)
		}
	}
	return filters
}

// pods says once that what nodes carry is not known.
func pods(q *question) filter {
	if q.Pods != nil {
		return nil
	}
	return alwaysUnknown("pods", "they could not be read: what is in use, and rules between pods")
}

func (v *Verdict) add(r Reason)  { v.Reasons = append(v.Reasons, r) }
func (v *Verdict) note(r Reason) { v.Notes = append(v.Notes, r) }

// unknown names each thing once.
func (v *Verdict) unknown(what, why string) {
	if !slices.ContainsFunc(v.NotKnown, func(u Unknown) bool { return u.What == what }) {
		v.NotKnown = append(v.NotKnown, Unknown{what, why})
	}
}

func always(r Reason) filter { return func(_ *node, v *Verdict) { v.add(r) } }
func alwaysUnknown(what, why string) filter {
	return func(_ *node, v *Verdict) { v.unknown(what, why) }
}

// all runs filters one after another.
func all(filters []filter) filter {
	if len(filters) == 0 {
		return nil
	}
	return func(n *node, v *Verdict) {
		for _, f := range filters {
			if f != nil {
				f(n, v)
			}
		}
	}
}
