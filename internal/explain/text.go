package explain

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// termsText is alternatives for people.
func termsText(terms []corev1.NodeSelectorTerm) string {
	if len(terms) == 0 {
		return "nothing: it has no term, and so matches no node"
	}
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = termText(t)
	}
	return strings.Join(parts, ", or ")
}

func termText(t corev1.NodeSelectorTerm) string {
	var parts []string
	for _, e := range t.MatchExpressions {
		parts = append(parts, expressionText(e))
	}
	for _, e := range t.MatchFields {
		parts = append(parts, "field "+expressionText(e))
	}
	if len(parts) == 0 {
		return "nothing: the term is empty, and so matches no node"
	}
	return strings.Join(parts, " and ")
}

func expressionText(e corev1.NodeSelectorRequirement) string {
	values := strings.Join(e.Values, ", ")
	switch e.Operator {
	case corev1.NodeSelectorOpIn:
		if len(e.Values) == 1 {
			return e.Key + "=" + values
		}
		return e.Key + " one of " + values
	case corev1.NodeSelectorOpNotIn:
		return e.Key + " not " + values
	case corev1.NodeSelectorOpExists:
		return "a label " + e.Key
	case corev1.NodeSelectorOpDoesNotExist:
		return "no label " + e.Key
	case corev1.NodeSelectorOpGt:
		return e.Key + " above " + values
	case corev1.NodeSelectorOpLt:
		return e.Key + " below " + values
	}
	return fmt.Sprintf("%s %s %s", e.Key, e.Operator, values)
}

// selectorText is which pods are meant.
func selectorText(s *metav1.LabelSelector) string {
	switch {
	case s == nil:
		return "no pods"
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return "all pods"
	}
	return "pods with " + metav1.FormatLabelSelector(s)
}

// domain is a topology key for people.
func domain(key string) string {
	switch key {
	case corev1.LabelHostname:
		return "node"
	case corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone:
		return "zone"
	case corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion:
		return "region"
	}
	return key
}

// domains are all values of a topology key for people.
func domains(key string) string {
	if d := domain(key); d != key {
		return d + "s"
	}
	return "values of " + key
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// allExpressions are those of all terms.
func allExpressions(n *corev1.NodeSelector) []corev1.NodeSelectorRequirement {
	var all []corev1.NodeSelectorRequirement
	for _, t := range n.NodeSelectorTerms {
		all = append(all, t.MatchExpressions...)
	}
	return all
}

// demandOf writes selector and affinity as a fragment.
func demandOf(selector map[string]string, n *corev1.NodeSelector) map[string]any {
	labels := map[string]any{}
	for k, v := range selector {
		labels[k] = v
	}
	var terms []any
	for _, t := range n.NodeSelectorTerms {
		terms = append(terms, map[string]any{"matchExpressions": expressionList(t.MatchExpressions), "matchFields": expressionList(t.MatchFields)})
	}
	required := map[string]any{"nodeSelectorTerms": terms}
	return map[string]any{"nodeSelector": labels, "affinity": map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": required}}}
}

func expressionList(list []corev1.NodeSelectorRequirement) []any {
	all := []any{}
	for _, e := range list {
		values := []any{}
		for _, v := range e.Values {
			values = append(values, v)
		}
		all = append(all, map[string]any{"key": e.Key, "operator": string(e.Operator), "values": values})
	}
	return all
}
