package explain

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// selects says whether a term of the pod is about another pod. Without namespaces and selector for them it is
// about the pod's own; an empty selector is about all.
func (s *seeker) selects(t corev1.PodAffinityTerm, p *corev1.Pod) bool {
	return s.inNamespaces(t, p.Namespace) && matches(t.LabelSelector, p.Labels)
}

func (s *seeker) inNamespaces(t corev1.PodAffinityTerm, namespace string) bool {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return namespace == s.pod.Namespace
	}
	if slices.Contains(t.Namespaces, namespace) {
		return true
	}
	if t.NamespaceSelector == nil {
		return false
	}
	if len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) == 0 {
		return true
	}
	for _, n := range s.cluster.facts.Namespaces {
		if n.Name == namespace {
			return matches(t.NamespaceSelector, n.Labels)
		}
	}
	return false
}

func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	l, err := metav1.LabelSelectorAsSelector(selector) // nil matches nothing
	return err == nil && l.Matches(labels.Set(set))
}

// where names the namespaces of a term; own is not said.
func where(t corev1.PodAffinityTerm) string {
	var parts []string
	if len(t.Namespaces) > 0 {
		parts = append(parts, "namespaces "+strings.Join(t.Namespaces, ", "))
	}
	if n := t.NamespaceSelector; n != nil {
		if len(n.MatchLabels)+len(n.MatchExpressions) == 0 {
			return " in all namespaces"
		}
		parts = append(parts, "namespaces with "+metav1.FormatLabelSelector(n))
	}
	if len(parts) == 0 {
		return ""
	}
	return " in " + strings.Join(parts, " and ")
}

// nearTerms and apartTerms are all terms, preferred ones too.
func nearTerms(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAffinity == nil {
		return nil
	}
	a := spec.Affinity.PodAffinity
	return withoutWeights(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func apartTerms(spec *corev1.PodSpec) []corev1.PodAffinityTerm {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	a := spec.Affinity.PodAntiAffinity
	return withoutWeights(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func withoutWeights(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) []corev1.PodAffinityTerm {
	all := slices.Clone(required)
	for _, w := range preferred {
		all = append(all, w.PodAffinityTerm)
	}
	return all
}

// sameTerm compares a pod's term with one of its template. The API server writes the values of
// matchLabelKeys into a pod's selector.
func sameTerm(pod, template corev1.PodAffinityTerm) bool {
	a, b := pod, template
	a.LabelSelector = withoutKeys(a.LabelSelector, slices.Concat(a.MatchLabelKeys, a.MismatchLabelKeys))
	b.LabelSelector = withoutKeys(b.LabelSelector, slices.Concat(b.MatchLabelKeys, b.MismatchLabelKeys))
	return reflect.DeepEqual(a, b)
}

// podsText is which pods a term is about, without what the API server has written into it.
func podsText(t corev1.PodAffinityTerm) string {
	return selectorText(withoutKeys(t.LabelSelector, slices.Concat(t.MatchLabelKeys, t.MismatchLabelKeys)))
}

func withoutKeys(s *metav1.LabelSelector, keys []string) *metav1.LabelSelector {
	if s == nil || len(keys) == 0 {
		return s
	}
	t := s.DeepCopy()
	t.MatchExpressions = slices.DeleteFunc(t.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return slices.Contains(keys, e.Key) })
	if len(t.MatchExpressions) == 0 {
		t.MatchExpressions = nil
	}
	return t
}
