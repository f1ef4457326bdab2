package fragment

import (
	"math"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// above has the keys that people put around a pod spec, with what to do instead.
var above = map[string]string{
	"spec":       "move the keys of spec up: a fragment is what stands below spec",
	"template":   "move the keys of template.spec up: a fragment is what stands below spec",
	"metadata":   "move labels and annotations up: they stand beside the keys of the pod spec",
	"apiVersion": "leave it out: a fragment is a part of a pod, not an object",
	"kind":       "leave it out: a fragment is a part of a pod, not an object",
	"status":     "leave it out: what a pod is like is the cluster's to say",
}

// unknown reads a field that the shape does not have.
func (r *reader) unknown(f source.Field, at *trail, s *shape) (any, bool) {
	if fix, ok := above[f.Name]; ok && at.is(f.Name) {
		r.fault(f.Key, finding.FragmentRoot, at, fix, "%q has no place at the top of a fragment", f.Name)
		return r.drop()
	}
	fix := finding.DidYouMean(f.Name, s.names, "")
	if fix == "" {
		fix = elsewhere(f.Name, at)
	}
	switch {
	case combined[s.typ]:
		r.fault(f.Key, finding.UnknownField, at, fix, "unknown field %q: Berth can't combine what it does not know", f.Name)
		return r.drop()
	case r.rules.operators():
		r.found(f.Key, finding.UnknownField, finding.Warning, at, fix, "unknown field %q: the cluster may be newer than Berth's types", f.Name)
	case r.rules.Privileged:
		r.found(f.Key, finding.UnknownField, finding.Warning, at, fix, "unknown field %q: the API server will have to know it", f.Name)
	default:
		r.fault(f.Key, finding.UnknownField, at, fix, "unknown field %q", f.Name)
		return r.drop()
	}
	return r.raw(f.Value, at)
}

// combined has the types that composing has to understand all of.
var combined = map[reflect.Type]bool{
	reflect.TypeFor[corev1.NodeSelectorTerm]():        true,
	reflect.TypeFor[corev1.NodeSelectorRequirement](): true,
}

// elsewhere says where a field belongs that no field here is near to.
func elsewhere(name string, at *trail) string {
	container := podSpec().fields["containers"].elem
	if at.is(name) && slices.Contains(container.names, name) {
		return "write containers: [{name: step, " + name + ": ...}]"
	}
	return "look it up: kubectl explain " + at.up.explained()
}

// raw reads what no type here is of. Only what can't be passed on as it was written is refused.
func (r *reader) raw(n *source.Node, at *trail) (any, bool) {
	switch n.Kind {
	case source.Map:
		r.long.add(n, nil)
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			here := at.field(f.Name)
			if r.misplacedKey(f, here) {
				r.dropped++
			} else if v, keep := r.raw(f.Value, here); keep {
				m[f.Name] = v
			}
		}
		return m, true
	case source.List:
		all := make([]any, 0, len(n.Items))
		for i, item := range n.Items {
			if v, keep := r.raw(item, at.in(item, i)); keep {
				all = append(all, v)
			}
		}
		return all, true
	case source.String:
		if isExpression(n) {
			if v, keep, done := r.expression(n, at); done {
				return v, keep
			}
		}
	case source.Int:
		if n.Ambiguous() {
			r.findings = append(r.findings, n.AmbiguousFault(r.path(at)))
		}
	case source.Float:
		if f := n.Value.(float64); math.IsNaN(f) || math.IsInf(f, 0) {
			r.fault(n, finding.NumberOutOfRange, at, "quote it if it is a text: "+strconv.Quote(n.Text), "JSON has no %s", n.Text)
			return r.drop()
		}
	}
	return n.Value, true
}
