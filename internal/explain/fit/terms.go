package fit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	podAffinityPath     = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	podAntiAffinityPath = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
)

// podTerm is a required term of a pod's affinity to other pods, or of its anti-affinity.
type podTerm struct {
	path     string // in the pod that has it
	key      string // the topology's
	selector labels.Selector
	// Three things: neither namespaces nor a selector is the pod's own namespace; names are these; a selector
	// is the namespaces that it matches, all of them if it is empty. Names and a selector are a union.
	namespaces        []string
	namespaceSelector labels.Selector // nothing if there is none
	term              *corev1.PodAffinityTerm
}

// affinityTerms are those of the pod's required affinity to pods, antiAffinity those of what it must be
// apart from. If one can't be parsed there are none at all, as the scheduler has it.
func affinityTerms(pod *corev1.Pod) ([]podTerm, error) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return nil, nil
	}
	return podTerms(pod, podAffinityPath, pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

func antiAffinityTerms(pod *corev1.Pod) ([]podTerm, error) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil, nil
	}
	return podTerms(pod, podAntiAffinityPath, pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

func podTerms(pod *corev1.Pod, path string, list []corev1.PodAffinityTerm) ([]podTerm, error) {
	var terms []podTerm
	for i := range list {
		t := &list[i]
		selector, err := metav1.LabelSelectorAsSelector(withLabelKeys(pod, t))
		if err != nil {
			return nil, err
		}
		namespaces, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		term := podTerm{path: path + "[" + strconv.Itoa(i) + "]", key: t.TopologyKey, selector: selector, namespaces: t.Namespaces, namespaceSelector: namespaces, term: t}
		if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
			term.namespaces = []string{pod.Namespace}
		}
		terms = append(terms, term)
	}
	return terms, nil
}

// withLabelKeys is the selector with what matchLabelKeys and mismatchLabelKeys add to it. The API server
// merges them when it stores a pod; a pod that it has not seen gets them here.
func withLabelKeys(pod *corev1.Pod, t *corev1.PodAffinityTerm) *metav1.LabelSelector {
	if t.LabelSelector == nil || len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) == 0 {
		return t.LabelSelector
	}
	merged := *t.LabelSelector
	merged.MatchExpressions = slices.Clone(merged.MatchExpressions)
	add := func(keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			value, has := pod.Labels[key]
			there := slices.ContainsFunc(t.LabelSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
				return r.Key == key && r.Operator == operator
			})
			if has && !there {
				merged.MatchExpressions = append(merged.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
			}
		}
	}
	add(t.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	return &merged
}

// about says in words which pods the term means.
func (t *podTerm) about() string {
	var b strings.Builder
	b.WriteString(podsWith(t.selector))
	switch t := t.term; {
	case t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels)+len(t.NamespaceSelector.MatchExpressions) == 0:
		b.WriteString(" of any namespace")
	case t.NamespaceSelector != nil:
		fmt.Fprintf(&b, " of namespaces with %s", metav1.FormatLabelSelector(t.NamespaceSelector))
		if len(t.Namespaces) > 0 {
			fmt.Fprintf(&b, " and of %s", strings.Join(t.Namespaces, ", "))
		}
	case len(t.Namespaces) > 0:
		fmt.Fprintf(&b, " of %s", strings.Join(t.Namespaces, ", "))
	}
	return b.String()
}

// podsWith says which pods a selector means.
func podsWith(selector labels.Selector) string {
	if selector.Empty() {
		return "any pod"
	}
	if _, selectable := selector.Requirements(); !selectable {
		return "pods of no labelSelector (that is none)"
	}
	return "pods with " + selector.String()
}

// choosesNamespaces says whether labels of namespaces decide.
func (t *podTerm) choosesNamespaces() bool {
	_, selectable := t.namespaceSelector.Requirements()
	return selectable && !t.namespaceSelector.Empty()
}

// in gives the namespaces whose pods the term may mean, and whether these are all. It is for the terms
// of the pod that asks: of them the scheduler asks each namespace that exists.
func (t *podTerm) in(x *index) (names map[string]bool, all bool) {
	if t.namespaceSelector.Empty() {
		return nil, true
	}
	names = make(map[string]bool, len(t.namespaces))
	for _, n := range t.namespaces {
		names[n] = true
	}
	if t.choosesNamespaces() {
		for _, n := range x.Namespaces {
			if t.namespaceSelector.Matches(labels.Set(n.Labels)) {
				names[n.Name] = true
			}
		}
	}
	return names, false
}
