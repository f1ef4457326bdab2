package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berthdev/berth/internal/reason"
)

// budgetRules says what the pod's budgets have against its eviction. A pod that has not run yet is evicted
// whatever they say.
func (c *Cluster) budgetRules(p *corev1.Pod) []Constraint {
	if p.Status.Phase == corev1.PodPending && p.Spec.NodeName != "" || ended(p) {
		return nil
	}
	budgets := c.budgetsOf(p)
	if len(budgets) > 1 {
		names := make([]string, len(budgets))
		for i, b := range budgets {
			names[i] = b.Name
		}
		return []Constraint{constraint(reason.PDBMultiple, budgetActor(budgets[0]), budgetSource(budgets[0], "spec.selector"),
			fmt.Sprintf("the budgets %s all have it: the eviction API refuses a pod that has more than one, whatever the numbers", some(names, 4)))}
	}
	var all []Constraint
	for _, b := range budgets {
		if found, ok := c.budgetRule(p, b); ok {
			all = append(all, found)
		}
	}
	return all
}

func (c *Cluster) budgetRule(p *corev1.Pod, b budget) (Constraint, bool) {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow && !ready(p) {
		return Constraint{}, false
	}
	expected := c.expected(b)
	path, text := budgetText(b)
	if spare, ok := spareOf(b, expected); ok && spare <= 0 {
		fix := "with one replica more it would allow one"
		if b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable != nil && b.Spec.MinAvailable.Type == intstr.String && b.Spec.MinAvailable.StrVal == "100%" {
			fix = "more replicas would not help"
		}
		return constraint(reason.PDBNever, budgetActor(b), budgetSource(b, path),
			fmt.Sprintf("the budget %s says %s of %s: it can never allow an eviction; %s", b.Name, text, plural(expected, "pod"), fix)), true
	}
	if stale := staleness(b); stale != "" {
		return constraint(reason.PDBStale, Controller, budgetSource(b, "status"), fmt.Sprintf("the status of the budget %s %s: evictions are refused meanwhile", b.Name, stale)), true
	}
	if b.Status.ObservedGeneration > 0 && b.Status.DisruptionsAllowed <= 0 {
		return constraint(reason.PDBZeroNow, budgetActor(b), budgetSource(b, path),
			fmt.Sprintf("the budget %s says %s, and %d of %d pods are healthy: it allows no eviction now, and will again when more are", b.Name, text, b.Status.CurrentHealthy, b.Status.ExpectedPods)), true
	}
	return Constraint{}, false
}

// expected is how many pods the budget counts on: as the disruption controller says, or as their
// controllers have them.
func (c *Cluster) expected(b budget) int {
	if b.Status.ObservedGeneration > 0 && b.Status.ObservedGeneration >= b.Generation {
		return int(b.Status.ExpectedPods)
	}
	n := 0
	seen := map[Ref]bool{}
	for _, w := range c.Workloads() {
		for _, p := range c.workloads[w] {
			if p.Namespace != b.Namespace || !b.selector.Matches(labelSet(p)) || seen[w] {
				continue
			}
			if replicas := c.replicas(w); replicas >= 0 {
				n += int(replicas)
				seen[w] = true
			} else {
				n++
			}
		}
	}
	for _, o := range c.facts.Owners { // those without pods, as in manifests
		w := Ref{o.Kind, o.Namespace, o.Name}
		if o.Template != nil && o.Controller == nil && len(c.workloads[w]) == 0 && o.Namespace == b.Namespace && o.Replicas > 0 && b.selector.Matches(templateLabels(o)) {
			n += int(o.Replicas)
		}
	}
	return n
}

// spareOf is how many pods may be missing when all are healthy. It is not ok if the numbers can't be read,
// or if there are no pods.
func spareOf(b budget, expected int) (int, bool) {
	if expected == 0 {
		return 0, false
	}
	switch {
	case b.Spec.MaxUnavailable != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, expected, true) // rounded up, as the controller does
		return n, err == nil
	case b.Spec.MinAvailable != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, expected, true)
		return expected - n, err == nil
	}
	return expected - 1, true // neither is as minAvailable: 1
}

func budgetText(b budget) (path, text string) {
	switch {
	case b.Spec.MaxUnavailable != nil:
		return "spec.maxUnavailable", "maxUnavailable " + b.Spec.MaxUnavailable.String()
	case b.Spec.MinAvailable != nil:
		return "spec.minAvailable", "minAvailable " + b.Spec.MinAvailable.String()
	}
	return "spec", "nothing, which means minAvailable 1"
}

// staleness is why the budget's status does not count; "" if it does, or there is none.
func staleness(b budget) string {
	if b.Status.ObservedGeneration == 0 {
		return ""
	}
	if b.Status.ObservedGeneration < b.Generation {
		return "is older than its spec"
	}
	for _, d := range b.Status.Conditions {
		if d.Type == policyv1.DisruptionAllowedCondition && d.Reason == policyv1.SyncFailedReason && d.Status == metav1.ConditionFalse {
			return "could not be made: " + d.Message
		}
	}
	return ""
}

func budgetActor(b budget) Actor {
	if metav1.GetControllerOf(b.PodDisruptionBudget) != nil {
		return Controller
	}
	return Author
}

func budgetSource(b budget, path string) Source {
	return Source{Ref{"PodDisruptionBudget", b.Namespace, b.Name}, path}
}

func ready(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(d corev1.PodCondition) bool {
		return d.Type == corev1.PodReady && d.Status == corev1.ConditionTrue
	})
}
