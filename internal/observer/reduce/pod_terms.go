package reduce

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	observer "github.com/berthdev/berth/api/observer/v1"
)

func (t *trimmer) podTerms(field string, p *corev1.Pod, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) []observer.PodTerm {
	t.field = field
	if len(required)+len(preferred) > MostTerms {
		t.drop(true, "")
		return nil
	}
	var made []observer.PodTerm
	add := func(a *corev1.PodAffinityTerm, weight int32, i int) {
		if !t.fits(a.TopologyKey, MostKey, "topology_key", i) {
			return
		}
		where, own := namespaces(a, p.Namespace)
		made = append(made, observer.PodTerm{TopologyKey: a.TopologyKey, Required: weight == 0, Weight: weight, Namespaces: where,
			Selects: selects(a.LabelSelector, a.MatchLabelKeys, a.MismatchLabelKeys, p.Labels, own)})
	}
	for i := range required {
		add(&required[i], 0, i)
	}
	for i := range preferred {
		add(&preferred[i].PodAffinityTerm, max(preferred[i].Weight, 1), len(required)+i)
	}
	return sorted(made)
}

// namespaces says where a term looks for pods, and whether the pod's own namespace may be among them. An
// absent selector, an empty one and a list are three things: own, all and listed.
func namespaces(a *corev1.PodAffinityTerm, own string) (where string, among bool) {
	s := a.NamespaceSelector
	switch {
	case s == nil && len(a.Namespaces) == 0:
		return observer.NamespacesOwn, true
	case s == nil:
		return observer.NamespacesListed, slices.Contains(a.Namespaces, own)
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return observer.NamespacesAll, true
	}
	return observer.NamespacesSelected, true
}

func (t *trimmer) spread(p *corev1.Pod) []observer.Spread {
	t.field = "topology_spread"
	var made []observer.Spread
	constraints := list(t, p.Spec.TopologySpreadConstraints)
	for i := range constraints {
		c := &constraints[i]
		if !t.fits(c.TopologyKey, MostKey, "topology_key", i) || !t.fits(string(c.WhenUnsatisfiable), t.text(), "when_unsatisfiable", i) {
			continue
		}
		s := observer.Spread{TopologyKey: c.TopologyKey, MaxSkew: c.MaxSkew, WhenUnsatisfiable: string(c.WhenUnsatisfiable),
			Selects: selects(c.LabelSelector, c.MatchLabelKeys, nil, p.Labels, true)}
		if c.MinDomains != nil && *c.MinDomains != 1 {
			s.MinDomains = *c.MinDomains
		}
		if v := c.NodeAffinityPolicy; v != nil && *v == corev1.NodeInclusionPolicyIgnore {
			s.NodeAffinityPolicy = string(*v)
		}
		if v := c.NodeTaintsPolicy; v != nil && *v == corev1.NodeInclusionPolicyHonor {
			s.NodeTaintsPolicy = string(*v)
		}
		made = append(made, s)
	}
	return sorted(made)
}

// selects says what a selector is to a pod with the labels. match and mismatch are label keys whose values
// the API server takes from the pod and adds to the selector, if the pod has them (KEP-3633); what comes from
// a cluster has them added already, what comes from a manifest has not.
func selects(s *metav1.LabelSelector, match, mismatch []string, own map[string]string, inScope bool) string {
	if s == nil {
		return observer.SelectsNone
	}
	has := func(key string) bool { _, ok := own[key]; return ok }
	empty := len(s.MatchLabels)+len(s.MatchExpressions) == 0
	if empty && !slices.ContainsFunc(match, has) && !slices.ContainsFunc(mismatch, has) {
		return observer.SelectsAll
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || !inScope || slices.ContainsFunc(mismatch, has) || !selector.Matches(labels.Set(own)) {
		return observer.SelectsOther
	}
	return observer.SelectsSelf
}
