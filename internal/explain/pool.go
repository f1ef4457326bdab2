package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/reason"
)

// poolRules is what the pools of the pods' nodes were told, and so who may remove the nodes under them.
func (c *Cluster) poolRules(pods []*corev1.Pod) []Constraint {
	var all []Constraint
	for _, p := range pods {
		if n := c.nodes[p.Spec.NodeName]; n != nil {
			all = appendNew(all, c.nodeRules(n)...)
		}
	}
	return all
}

// nodeRules is what stops the removal of a node, whatever is on it.
func (c *Cluster) nodeRules(n *corev1.Node) []Constraint {
	var all []Constraint
	if n.Annotations[annotationScaleDown] == "true" {
		all = append(all, constraint(reason.ScaleDownDisabled, Unknown, Source{Ref{kindNode, "", n.Name}, "metadata." + field("annotations", annotationScaleDown).String()},
			"the node is annotated "+annotationScaleDown))
	}
	if n.Annotations[annotationDisrupt] == "true" {
		all = append(all, constraint(reason.DoNotDisrupt, Unknown, Source{Ref{kindNode, "", n.Name}, "metadata." + field("annotations", annotationDisrupt).String()},
			"the node is annotated "+annotationDisrupt))
	}
	name := n.Labels["karpenter.sh/nodepool"]
	for _, claim := range c.facts.NodeClaims {
		if claim.Node == n.Name && claim.Annotations[annotationDisrupt] == "true" && n.Annotations[annotationDisrupt] != "true" {
			all = append(all, constraint(reason.DoNotDisrupt, Unknown, Source{Ref{"NodeClaim", "", claim.Name}, "metadata." + field("annotations", annotationDisrupt).String()},
				"the node's claim is annotated "+annotationDisrupt))
		}
	}
	for _, pool := range c.facts.NodePools {
		if pool.Name == name && name != "" {
			all = append(all, pool.rules()...)
		}
	}
	for _, g := range c.facts.Groups {
		if g.Name != "" && g.Name == poolOf(n) && g.Size <= g.Min {
			all = append(all, constraint(reason.GroupMinSize, Author, Source{Ref{"ConfigMap", "kube-system", "cluster-autoscaler-status"}, "data.status"},
				fmt.Sprintf("the node group %s has %s, which is its minimum", g.Name, plural(g.Size, "node"))))
		}
	}
	return all
}

func (p *Pool) source(path string) Source { return Source{Ref{"NodePool", "", p.Name}, path} }

// rules are those of a NodePool that leave its nodes where they are.
func (p *Pool) rules() []Constraint {
	var all []Constraint
	if p.Policy == "WhenEmpty" {
		all = append(all, constraint(reason.NodePoolPolicy, Author, p.source("spec.disruption.consolidationPolicy"),
			fmt.Sprintf("the NodePool %s consolidates only nodes without pods (WhenEmpty)", p.Name)))
	}
	switch p.ConsolidateAfter {
	case "", "0s":
	case "Never":
		all = append(all, constraint(reason.ConsolidateAfter, Author, p.source("spec.disruption.consolidateAfter"),
			fmt.Sprintf("the NodePool %s never consolidates (consolidateAfter: Never)", p.Name)))
	default:
		c := constraint(reason.ConsolidateAfter, Author, p.source("spec.disruption.consolidateAfter"),
			fmt.Sprintf("the NodePool %s waits %s after the last pod came or went", p.Name, p.ConsolidateAfter))
		c.Hardness = reason.Soft
		all = append(all, c)
	}
	for i, b := range p.Budgets {
		if b.Nodes != "0" && b.Nodes != "0%" {
			continue
		}
		if len(b.Reasons) > 0 && !slices.Contains(b.Reasons, "Underutilized") && !slices.Contains(b.Reasons, "Empty") {
			continue
		}
		when, h := "now and always", reason.Hard
		if b.Schedule != "" {
			when, h = "in the windows of "+b.Schedule+" (UTC)", reason.Soft
		}
		c := constraint(reason.DisruptionBudget, Author, p.source(fmt.Sprintf("spec.disruption.budgets[%d]", i)),
			fmt.Sprintf("the NodePool %s allows no disruption %s", p.Name, when))
		c.Hardness = h
		all = append(all, c)
	}
	return all
}
