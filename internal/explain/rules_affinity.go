package explain

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/reason"
)

// required is the required node affinity. Of a single term each expression is a rule of its own; several
// are alternatives, and one rule together.
func (s *seeker) required(n *corev1.NodeSelector) {
	if n == nil {
		return
	}
	at := field("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	if len(n.NodeSelectorTerms) != 1 {
		actor := s.origin.of(at, func(t *corev1.PodSpec) bool { return reflect.DeepEqual(requiredTerms(t), n.NodeSelectorTerms) })
		s.add(rule{Constraint: constraint(s.affinityCode(n.NodeSelectorTerms...), actor, s.source(actor, pathNodes), "required node affinity wants "+termsText(n.NodeSelectorTerms)),
			blames: ofAffinity, cut: cut{affinity: true}})
		s.contradiction(n)
		return
	}
	term := n.NodeSelectorTerms[0]
	for i, e := range term.MatchExpressions {
		actor := s.origin.of(at, func(t *corev1.PodSpec) bool {
			return slices.ContainsFunc(requiredTerms(t), func(o corev1.NodeSelectorTerm) bool {
				return slices.ContainsFunc(o.MatchExpressions, func(f corev1.NodeSelectorRequirement) bool { return reflect.DeepEqual(e, f) })
			})
		})
		s.expression(e, i, false, actor, "matchExpressions", i)
	}
	for i, e := range term.MatchFields {
		actor := s.origin.of(at, func(t *corev1.PodSpec) bool {
			return slices.ContainsFunc(requiredTerms(t), func(o corev1.NodeSelectorTerm) bool { return len(o.MatchFields) > 0 })
		})
		if actor == Injected && isDaemon(s.pod) { // its controller pins each pod to its node
			actor = Controller
		}
		s.expression(e, i, true, actor, "matchFields", len(term.MatchExpressions)+i)
	}
	s.contradiction(n)
}

func (s *seeker) expression(e corev1.NodeSelectorRequirement, i int, isField bool, actor Actor, list string, cutIndex int) {
	term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}}
	if isField {
		term = corev1.NodeSelectorTerm{MatchFields: term.MatchExpressions}
	}
	s.add(rule{
		Constraint: constraint(s.affinityCode(term), actor, s.source(actor, fmt.Sprintf("%s.nodeSelectorTerms[0].%s[%d]", pathNodes, list, i)),
			"required node affinity wants "+termText(term)),
		blames: func(r fit.Reason) bool {
			if !ofAffinity(r) || r.Kind == fit.Contradiction {
				return false
			}
			return slices.ContainsFunc(r.Terms, func(t fit.Term) bool {
				return slices.ContainsFunc(t.Unmet, func(u fit.Requirement) bool {
					return u.Key == e.Key && u.Operator == e.Operator && u.Field == isField && slices.Equal(u.Values, e.Values)
				})
			})
		},
		cut: cut{expressions: []int{cutIndex}}})
}

// ofAffinity says whether the required node affinity is to blame, whatever it is about.
func ofAffinity(r fit.Reason) bool {
	switch r.Kind {
	case fit.NodeAffinity, fit.NodeName, fit.Contradiction:
		return strings.HasPrefix(r.Path, "spec.affinity") || len(r.Terms) > 0
	}
	return false
}

// affinityCode tells what names nodes from what wants labels of them.
func (s *seeker) affinityCode(terms ...corev1.NodeSelectorTerm) reason.Code {
	for _, t := range terms {
		pins := len(t.MatchFields) > 0 || slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpIn
		})
		if !pins {
			return reason.NodeAffinityRequired
		}
	}
	if len(terms) == 0 {
		return reason.NodeAffinityRequired
	}
	return reason.NodeNamePin
}

// contradiction is what no node can satisfy, whatever its labels.
func (s *seeker) contradiction(n *corev1.NodeSelector) {
	disagree := placement.DemandOf(demandOf(s.pod.Spec.NodeSelector, n)).Excludes(placement.DemandOf(nil))
	if disagree == "" && len(n.NodeSelectorTerms) == 0 {
		disagree = "a list without terms"
	}
	if disagree == "" {
		return
	}
	for _, e := range allExpressions(n) { // what is no number matches nothing, however it looks
		if (e.Operator == corev1.NodeSelectorOpGt || e.Operator == corev1.NodeSelectorOpLt) && len(e.Values) == 1 && !isInteger(e.Values[0]) {
			disagree += fmt.Sprintf(": %s compares whole numbers, and %q is none", e.Operator, e.Values[0])
		}
	}
	actor := s.origin.of(field("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"),
		func(t *corev1.PodSpec) bool { return reflect.DeepEqual(requiredTerms(t), n.NodeSelectorTerms) })
	s.add(rule{Constraint: constraint(reason.Contradiction, actor, s.source(actor, pathNodes), "no node can satisfy this, whatever its labels: "+disagree),
		blames: func(r fit.Reason) bool { return r.Kind == fit.Contradiction }, cut: cut{affinity: true}})
}

func requiredTerms(t *corev1.PodSpec) []corev1.NodeSelectorTerm {
	if t.Affinity == nil || t.Affinity.NodeAffinity == nil || t.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return t.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}
