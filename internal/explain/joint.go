package explain

import (
	"fmt"
	"slices"
)

// mostSteps is how many joint unlocks are given. What comes later gains little for each rule.
const mostSteps = 8

// joint finds sets of rules whose removal empties many nodes. The best set of each size is a problem that has
// no quick answer (it is that of the densest subhypergraph); this takes, again and again, the rules that hold
// some node and gain most nodes for each rule that has to go besides.
func (f *fleet) joint() {
	gone := map[int]bool{}
	emptied := []string{}
	left := f.candidates()
	for len(left) > 0 && len(f.JointUnlock) < mostSteps {
		add := cheapest(left, gone)
		for _, r := range add {
			gone[r] = true
		}
		left = slices.DeleteFunc(left, func(s held) bool {
			if len(missing(s.rules, gone)) > 0 {
				return false
			}
			emptied = append(emptied, s.nodes...)
			return true
		})
		slices.Sort(emptied)
		f.JointUnlock = append(f.JointUnlock, JointStep{Add: add, Rules: len(gone), Nodes: slices.Clone(emptied)})
	}
}

// held is nodes that the same rules hold.
type held struct {
	rules []int
	nodes []string
}

// candidates are the nodes that rules hold, and nothing else, by rules.
func (f *fleet) candidates() []held {
	var all []held
	index := map[string]int{}
	for _, n := range f.Nodes {
		if len(n.HeldBy) == 0 || n.NoRoom {
			continue
		}
		key := fmt.Sprint(n.HeldBy)
		i, ok := index[key]
		if !ok {
			i = len(all)
			index[key] = i
			all = append(all, held{rules: n.HeldBy})
		}
		all[i].nodes = append(all[i].nodes, n.Name)
	}
	return all
}

// cheapest gives the rules to take away next.
func cheapest(left []held, gone map[int]bool) []int {
	var best []int
	gain := 0.0
	for _, s := range left {
		add := missing(s.rules, gone)
		freed := 0
		for _, o := range left {
			if len(missingBut(o.rules, gone, add)) == 0 {
				freed += len(o.nodes)
			}
		}
		if g := float64(freed) / float64(len(add)); g > gain || g == gain && len(add) < len(best) {
			best, gain = add, g
		}
	}
	return best
}

// missing are the rules that are not gone.
func missing(rules []int, gone map[int]bool) []int { return missingBut(rules, gone, nil) }

func missingBut(rules []int, gone map[int]bool, add []int) []int {
	var all []int
	for _, r := range rules {
		if !gone[r] && !slices.Contains(add, r) {
			all = append(all, r)
		}
	}
	return all
}
