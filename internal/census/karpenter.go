package census

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/explain"
)

// NodePool is what is read of Karpenter's NodePool (karpenter.sh/v1 and v1beta1).
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Disruption struct {
			ConsolidationPolicy string `json:"consolidationPolicy,omitempty"`
			ConsolidateAfter    string `json:"consolidateAfter,omitempty"`
			Budgets             []struct {
				Nodes    string   `json:"nodes"`
				Schedule string   `json:"schedule,omitempty"`
				Reasons  []string `json:"reasons,omitempty"`
			} `json:"budgets,omitempty"`
		} `json:"disruption"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels,omitempty"`
			} `json:"metadata"`
			Spec struct {
				Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitempty"`
				Taints       []corev1.Taint                   `json:"taints,omitempty"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

// NodeClaim is what is read of Karpenter's NodeClaim.
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		NodeName string `json:"nodeName,omitempty"`
	} `json:"status"`
}

func (p *NodePool) fact() *explain.Pool {
	d, t := p.Spec.Disruption, p.Spec.Template
	pool := &explain.Pool{Name: p.Name, Policy: d.ConsolidationPolicy, ConsolidateAfter: d.ConsolidateAfter,
		Requirements: t.Spec.Requirements, Labels: t.Metadata.Labels, Taints: t.Spec.Taints}
	for _, b := range d.Budgets {
		pool.Budgets = append(pool.Budgets, explain.PoolBudget{Nodes: b.Nodes, Schedule: b.Schedule, Reasons: b.Reasons})
	}
	return pool
}

func (c *NodeClaim) fact() *explain.Claim {
	return &explain.Claim{Name: c.Name, Node: c.Status.NodeName, Pool: c.Labels["karpenter.sh/nodepool"], Annotations: c.Annotations}
}
