package explain

import (
	"cmp"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// Unlock is what would open if certain constraints were gone.
type Unlock struct {
	Without []int    `json:"without" yaml:"without,required" doc:"indexes of constraints"`
	Nodes   []string `json:"nodes" yaml:"nodes,required" doc:"that would fit, and do not now"`
	Smaller int      `json:"smaller" yaml:"smaller,required" doc:"how many of them have less allocatable cpu or memory than the pod's node, and more of neither"`
}

// mostPairs is how many pairs of rules are tried, those that hold most nodes first.
const mostPairs = 16

// unlocks gives for each hard rule the nodes that open if it alone were gone, the largest gain first; pairs
// only if no single one opens any. What would open has been asked, not reckoned.
func (c *Cluster) unlocks(p *corev1.Pod, verdicts []fit.Verdict, rules []rule) []Unlock {
	all := []Unlock{}
	for i := range rules {
		if u, ok := c.unlock(p, verdicts, rules, i); ok {
			all = append(all, u)
		}
	}
	if len(all) == 0 {
		for _, pair := range pairs(verdicts, rules) {
			if u, ok := c.unlock(p, verdicts, rules, pair[0], pair[1]); ok {
				all = append(all, u)
			}
		}
	}
	all = withoutDoubles(all, rules)
	slices.SortStableFunc(all, func(a, b Unlock) int { return len(b.Nodes) - len(a.Nodes) })
	return all
}

// withoutDoubles leaves out what takes away the same as another one and opens the same: that nodes lack a
// rule's topology key is told beside the rule, and says more.
func withoutDoubles(all []Unlock, rules []rule) []Unlock {
	double := func(u, by Unlock) bool {
		return len(u.Without) == 1 && len(by.Without) == 1 && rules[by.Without[0]].Code == reason.TopologyKeyMissing &&
			slices.Equal(u.Nodes, by.Nodes) && reflect.DeepEqual(rules[u.Without[0]].cut, rules[by.Without[0]].cut)
	}
	return slices.DeleteFunc(all, func(u Unlock) bool {
		return rules[u.Without[0]].Code != reason.TopologyKeyMissing && slices.ContainsFunc(all, func(by Unlock) bool { return double(u, by) })
	})
}

// unlock takes away the rules with these indexes. It is not ok if that opens no node.
func (c *Cluster) unlock(p *corev1.Pod, verdicts []fit.Verdict, rules []rule, which ...int) (Unlock, bool) {
	u := Unlock{Without: which}
	settled := false
	for _, i := range which {
		if rules[i].blames == nil {
			return u, false
		}
		settled = settled || rules[i].settled
	}
	if settled {
		u.Nodes = heldBy(verdicts, rules, which)
	} else if shut(verdicts, rules, which) {
		u.Nodes = c.opened(p, verdicts, rules, which)
	}
	if here := c.nodes[p.Spec.NodeName]; here != nil {
		for _, name := range u.Nodes {
			if smaller(c.nodes[name], here) {
				u.Smaller++
			}
		}
	}
	return u, len(u.Nodes) > 0
}

// shut says whether each of the rules shuts out some node: taking away one that does not changes nothing.
func shut(verdicts []fit.Verdict, rules []rule, which []int) bool {
	for _, i := range which {
		found := slices.ContainsFunc(verdicts, func(v fit.Verdict) bool { return slices.ContainsFunc(v.Reasons, rules[i].blames) })
		if !found {
			return false
		}
	}
	return true
}

// heldBy are the nodes that have no reasons but those of the rules.
func heldBy(verdicts []fit.Verdict, rules []rule, which []int) []string {
	var names []string
	for _, v := range verdicts {
		if len(v.Reasons) > 0 && !slices.ContainsFunc(v.Reasons, func(r fit.Reason) bool {
			return !slices.ContainsFunc(which, func(i int) bool { return rules[i].blames(r) })
		}) {
			names = append(names, v.Node)
		}
	}
	return names
}

// opened asks again without the rules.
func (c *Cluster) opened(p *corev1.Pod, verdicts []fit.Verdict, rules []rule, which []int) []string {
	closed := map[string]bool{}
	for _, v := range verdicts {
		closed[v.Node] = len(v.Reasons) > 0
	}
	var names []string
	for _, after := range c.withoutRules(p, rules, which) {
		if len(after.Reasons) == 0 && closed[after.Node] {
			names = append(names, after.Node)
		}
	}
	return names
}

// withoutRules holds a pod against all nodes as if it had not these rules, and others not theirs.
func (c *Cluster) withoutRules(p *corev1.Pod, rules []rule, which []int) []fit.Verdict {
	var taken cut
	snapshot := c.snapshot
	for _, i := range which {
		taken = taken.and(rules[i].cut)
		for _, o := range rules[i].others {
			snapshot = snapshot.With(cutAt(rules[i].path).from(o), o.Spec.NodeName)
		}
	}
	return snapshot.Explain(taken.from(p))
}

// pairs gives the pairs of rules that hold a node by themselves, those that hold most first.
func pairs(verdicts []fit.Verdict, rules []rule) [][2]int {
	held := map[[2]int]int{}
	for _, v := range verdicts {
		var guilty []int
		for i, r := range rules {
			if r.blames != nil && slices.ContainsFunc(v.Reasons, r.blames) {
				guilty = append(guilty, i)
			}
		}
		for a := range guilty {
			for b := a + 1; b < len(guilty); b++ {
				pair := [2]int{guilty[a], guilty[b]}
				if len(guilty) == 2 {
					held[pair] += len(verdicts)
				}
				held[pair]++ // more rules than two may still be the doing of two: one that has two reasons
			}
		}
	}
	var all [][2]int
	for pair := range held {
		all = append(all, pair)
	}
	slices.SortFunc(all, func(a, b [2]int) int {
		return cmp.Or(held[b]-held[a], a[0]-b[0], a[1]-b[1])
	})
	return all[:min(len(all), mostPairs)]
}

// smaller says whether a node has less of what counts, and more of nothing.
func smaller(n, than *corev1.Node) bool {
	less := false
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		a, b := n.Status.Allocatable[name], than.Status.Allocatable[name]
		switch a.Cmp(b) {
		case 1:
			return false
		case -1:
			less = true
		}
	}
	return less
}
