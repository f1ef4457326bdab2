package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/reason"
)

// instanceRules says, of a pod that waits, if no NodePool would make a machine for it: for its taints, or
// since the pod wants labels that the pool's machines never have. How large machines can get is not known here.
func (c *Cluster) instanceRules(p *corev1.Pod) []Constraint {
	if len(c.facts.NodePools) == 0 || p.Spec.NodeName != "" {
		return nil
	}
	var whys []string
	for _, pool := range c.facts.NodePools {
		why := pool.refuses(p)
		if why == "" {
			return nil
		}
		whys = append(whys, pool.Name+" ("+why+")")
	}
	return []Constraint{constraint(reason.InstanceRequirements, Author, Source{Ref{"NodePool", "", c.onlyPool()}, "spec.template.spec"},
		"no NodePool would make a machine for it: "+some(whys, 4))}
}

func (c *Cluster) onlyPool() string {
	if len(c.facts.NodePools) == 1 {
		return c.facts.NodePools[0].Name
	}
	return ""
}

// refuses says why none of the pool's machines could take the pod; "" if one might.
func (p *Pool) refuses(pod *corev1.Pod) string {
	machine := &corev1.Node{Spec: corev1.NodeSpec{Taints: p.Taints}}
	for _, r := range fit.Node(&corev1.PodSpec{Tolerations: pod.Spec.Tolerations}, machine) {
		if r.Kind == fit.Taint {
			return "its taint " + r.Taint.ToString()
		}
	}
	required := &corev1.NodeSelector{}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	wants := placement.DemandOf(demandOf(pod.Spec.NodeSelector, required))
	has := placement.DemandOf(demandOf(p.Labels, &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: p.expressions()}}}))
	if why := wants.Excludes(has); why != "" {
		return why
	}
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) { // labels that its machines do not have
		if !p.knows(key) && !strings.Contains(key, "kubernetes.io/") && !strings.Contains(key, "karpenter") {
			return fmt.Sprintf("its machines have no label %s", key)
		}
	}
	return ""
}

// expressions are the requirements, without what only Karpenter understands.
func (p *Pool) expressions() []corev1.NodeSelectorRequirement {
	return slices.DeleteFunc(slices.Clone(p.Requirements), func(r corev1.NodeSelectorRequirement) bool {
		return !slices.Contains([]corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt}, r.Operator)
	})
}

// knows says whether the pool's machines can have a label of their own choice.
func (p *Pool) knows(key string) bool {
	_, ok := p.Labels[key]
	return ok || slices.ContainsFunc(p.Requirements, func(r corev1.NodeSelectorRequirement) bool { return r.Key == key })
}
