package fit

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// count finds the domains of each rule and the pods in them. Only nodes count that have the keys of all
// rules, and that the rule's policies let in; only pods of the pod's namespace that are not being deleted.
func (q *question) count(rules []spreadRule) {
	counts := make([][]bool, len(rules)) // by rule and node
	required := nodeaffinity.GetRequiredNodeAffinity(q.pod)
	for i := range rules {
		counts[i] = make([]bool, len(q.nodes))
	}
	for _, n := range q.nodes {
		if !hasKeys(n, rules) {
			continue
		}
		matches, _ := required.Match(n.Node)
		tolerated := !untolerated(q.pod, n.Node)
		for i := range rules {
			s := &rules[i].skew
			if (s.AffinityPolicy != corev1.NodeInclusionPolicyHonor || matches) && (s.TaintsPolicy != corev1.NodeInclusionPolicyHonor || tolerated) {
				counts[i][n.number] = true
				rules[i].matching[n.Labels[rules[i].key]] += 0
			}
		}
	}
	for c := range q.in(q.pod.Namespace) {
		for i := range rules {
			r := &rules[i]
			// The scheduler takes an empty selector for one that counts no pods but the one that asks.
			if counts[i][c.node.number] && c.DeletionTimestamp == nil && !r.selector.Empty() && r.selector.Matches(labels.Set(c.Labels)) {
				r.matching[c.node.Labels[r.key]]++
			}
		}
	}
	for i := range rules {
		rules[i].settle()
	}
}

func hasKeys(n *node, rules []spreadRule) bool {
	for i := range rules {
		if _, has := n.Labels[rules[i].key]; !has {
			return false
		}
	}
	return true
}

// settle finds the least that a domain has.
func (r *spreadRule) settle() {
	r.skew.Domains = len(r.matching)
	if r.skew.Domains < r.skew.MinDomains {
		return // domains that are not there have none
	}
	first := true
	for _, n := range r.matching {
		if first || n < r.skew.Least {
			r.skew.Least, first = n, false
		}
	}
}
