package explain

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// spreading are the topology spread constraints.
func (s *seeker) spreading() {
	for i, t := range s.pod.Spec.TopologySpreadConstraints {
		path := fmt.Sprintf("%s[%d]", pathSpread, i)
		actor := s.origin.of(field("topologySpreadConstraints"), func(spec *corev1.PodSpec) bool {
			return slices.ContainsFunc(spec.TopologySpreadConstraints, func(o corev1.TopologySpreadConstraint) bool { return sameSpread(t, o) })
		})
		if t.WhenUnsatisfiable != corev1.DoNotSchedule {
			s.soft(reason.SpreadSoft, actor, path, fmt.Sprintf("is spread over %s if possible (maxSkew %d)", domains(t.TopologyKey), t.MaxSkew))
			continue
		}
		blames := at(path, fit.Spread)
		s.add(rule{Constraint: constraint(reason.SpreadHard, actor, s.source(actor, path), s.spreadText(t, blames)), blames: blames, cut: cut{spread: []int{i}}})
		s.missing(t.TopologyKey, path, actor)
		term := corev1.PodAffinityTerm{LabelSelector: t.LabelSelector} // own namespace
		s.dead(term, actor, path, "the rule does nothing", reason.Soft)
	}
}

// spreadText is what the constraint asks for, and how many domains there are to spread over, which is what
// people find out last.
func (s *seeker) spreadText(t corev1.TopologySpreadConstraint, blames func(fit.Reason) bool) string {
	text := fmt.Sprintf("must be spread over %s: %s, difference at most %d", domains(t.TopologyKey), selectorText(withoutKeys(t.LabelSelector, t.MatchLabelKeys)), t.MaxSkew)
	if t.MinDomains != nil && *t.MinDomains > 1 {
		text += fmt.Sprintf(", at least %d domains", *t.MinDomains)
	}
	seen := map[string]bool{}
	for _, n := range s.cluster.facts.Nodes {
		if value, ok := n.Labels[t.TopologyKey]; ok {
			seen[value] = true
		}
	}
	known, some := -1, false
	var policies []string
	s.reasons(func(_ string, r fit.Reason) {
		if blames(r) && r.Skew != nil && !some {
			known, some = r.Skew.Domains, true
			if r.Skew.AffinityPolicy == corev1.NodeInclusionPolicyIgnore {
				policies = append(policies, "nodes that its affinity excludes count (nodeAffinityPolicy Ignore)")
			}
			if r.Skew.TaintsPolicy != corev1.NodeInclusionPolicyHonor {
				policies = append(policies, "tainted nodes count (nodeTaintsPolicy Ignore)")
			}
		}
	})
	switch {
	case s.cluster.facts.Nodes == nil:
	case some && known == 1, len(seen) == 1:
		text += "; only 1 domain exists"
	case some:
		text += fmt.Sprintf("; %d domains count", known)
	}
	if len(policies) > 0 {
		text += "; " + strings.Join(policies, ", ")
	}
	return text
}

// sameSpread compares a pod's constraint with one of its template, see sameTerm.
func sameSpread(pod, template corev1.TopologySpreadConstraint) bool {
	a, b := pod, template
	a.LabelSelector, b.LabelSelector = withoutKeys(a.LabelSelector, a.MatchLabelKeys), withoutKeys(b.LabelSelector, b.MatchLabelKeys)
	return reflect.DeepEqual(a, b)
}
