package explain

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
)

// mostAway is how many sets of rules are tried before it counts as not known which would do.
const mostAway = 4

// away gives the fewest rules found without which a pod would fit another node; verdicts are those of the
// other nodes, none of which it fits. What nodes have too little room for is not looked at: if none has room,
// no rule is to blame.
func (c *Cluster) away(p *corev1.Pod, verdicts []fit.Verdict) (rules []Constraint, noRoom bool) {
	roomy := slices.DeleteFunc(slices.Clone(verdicts), func(v fit.Verdict) bool { return slices.ContainsFunc(v.Reasons, ofSize) || len(v.Reasons) == 0 })
	if len(roomy) == 0 {
		return nil, true
	}
	all := c.rules(p, roomy)
	for _, set := range sets(roomy, all) {
		if !c.opensAny(p, roomy, all, set) {
			continue
		}
		for _, i := range set {
			rules = append(rules, all[i].Constraint)
		}
		return rules, false
	}
	return nil, false
}

// ofSize says whether a reason is about room, which taking rules away does not make.
func ofSize(r fit.Reason) bool { return r.Kind == fit.Resources || r.Kind == fit.PodCount }

// sets are the sets of rules that hold some node, the smallest first, and of these what holds most nodes.
func sets(verdicts []fit.Verdict, rules []rule) [][]int {
	count := map[string]int{}
	var all [][]int
	for _, v := range verdicts {
		var guilty []int
		for i, r := range rules {
			if r.blames != nil && slices.ContainsFunc(v.Reasons, r.blames) {
				guilty = append(guilty, i)
			}
		}
		key := fmt.Sprint(guilty)
		if count[key]++; count[key] == 1 {
			all = append(all, guilty)
		}
	}
	slices.SortStableFunc(all, func(a, b []int) int {
		return cmp.Or(len(a)-len(b), count[fmt.Sprint(b)]-count[fmt.Sprint(a)])
	})
	return all[:min(len(all), mostAway)]
}

// opensAny asks whether one of the nodes would open. A rule that can't be taken away for the asking is held
// against the verdicts instead.
func (c *Cluster) opensAny(p *corev1.Pod, verdicts []fit.Verdict, rules []rule, set []int) bool {
	if slices.ContainsFunc(set, func(i int) bool { return rules[i].settled }) {
		return len(heldBy(verdicts, rules, set)) > 0
	}
	among := map[string]bool{}
	for _, v := range verdicts {
		among[v.Node] = true
	}
	return slices.ContainsFunc(c.withoutRules(p, rules, set), func(v fit.Verdict) bool { return among[v.Node] && len(v.Reasons) == 0 })
}
