package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// NearlyEmpty is up to which share of its cpu and of its memory a node's pods request if it counts as nearly
// empty. DaemonSets and static pods do not count.
const NearlyEmpty = 0.25

// Fleet says of many nodes what holds them.
type Fleet struct {
	Rules       []HeldRule  `json:"rules" yaml:"rules,required" doc:"what holds nodes, that which holds most first"`
	Nodes       []FleetNode `json:"nodes" yaml:"nodes,required" doc:"by name"`
	JointUnlock []JointStep `json:"joint_unlocks" yaml:"joint_unlocks,required" doc:"the smallest sets of rules found whose removal empties most nodes: each entry adds rules to those before it"`
	NotKnown    []Unread    `json:"not_known" yaml:"not_known,required" doc:"what could not be read, and what no API shows"`
	Incomplete  bool        `json:"incomplete" yaml:"incomplete,required" doc:"something could not be read that a cluster's API has"`
	Sampled     int         `json:"sampled" yaml:"sampled,required" doc:"how many pods were held against the nodes; the others are replicas of these"`
}

// HeldRule is a constraint that holds nodes.
type HeldRule struct {
	Constraint
	Workload    Ref `json:"workload" yaml:"workload,required" doc:"whose pods it holds; of several, one"`
	Holds       int `json:"holds" yaml:"holds,required" doc:"how many nodes"`
	HoldsAlone  int `json:"holds_alone" yaml:"holds_alone,required" doc:"how many of them nothing else holds"`
	NearlyEmpty int `json:"nearly_empty" yaml:"nearly_empty,required" doc:"how many of them are nearly empty"`
}

// FleetNode is a node and what holds it.
type FleetNode struct {
	Machine
	Requested   float64 `json:"requested" yaml:"requested,required" doc:"share of cpu or memory that its pods request, whichever is more, without DaemonSets and static pods"`
	Pods        int     `json:"pods" yaml:"pods,required" doc:"without DaemonSets and static pods"`
	HeldBy      []int   `json:"held_by" yaml:"held_by,required" doc:"indexes of rules; none if it could be emptied"`
	NoRoom      bool    `json:"no_room" yaml:"no_room,required" doc:"a pod would fit nowhere else for its size alone, which no rule changes"`
	NearlyEmpty bool    `json:"nearly_empty" yaml:"nearly_empty,required" doc:"little is requested of it"`
}

// JointStep is rules that are taken away together, after those of the steps before.
type JointStep struct {
	Add   []int    `json:"add" yaml:"add,required" doc:"indexes of rules"`
	Rules int      `json:"rules" yaml:"rules,required" doc:"how many are gone by then"`
	Nodes []string `json:"nodes" yaml:"nodes,required" doc:"that could be emptied by then, and can't now"`
}

// Fleet puts together what holds the selected nodes. held has what Place gave, in the order of the classes.
func (c *Cluster) Fleet(selector labels.Selector, classes []*Class, held []*Held) *Fleet {
	f := &fleet{Fleet: &Fleet{Rules: []HeldRule{}, Nodes: []FleetNode{}, JointUnlock: []JointStep{}, Sampled: len(classes)}, index: map[Source]map[reason.Code]int{}}
	of := map[*corev1.Pod]*Held{}
	rep := map[*corev1.Pod]*corev1.Pod{}
	var verdicts []fit.Verdict
	for i, k := range classes {
		for _, p := range k.pods {
			of[p], rep[p] = held[i], k.pod
		}
		for _, u := range held[i].known {
			verdicts = append(verdicts, fit.Verdict{NotKnown: []fit.Unknown{{What: u.What, Why: u.Why}}})
		}
	}
	for _, name := range c.selected(selector) {
		f.node(c, name, of, rep)
	}
	f.count()
	f.joint()
	f.NotKnown, f.Incomplete = c.notKnown(verdicts)
	return f.Fleet
}

type fleet struct {
	*Fleet
	index map[Source]map[reason.Code]int
}

func (f *fleet) node(c *Cluster, name string, of map[*corev1.Pod]*Held, rep map[*corev1.Pod]*corev1.Pod) {
	share := c.share(name)
	n := FleetNode{Machine: machineOf(c.nodes[name]), Requested: share, HeldBy: []int{}, NearlyEmpty: share <= NearlyEmpty}
	for _, r := range c.nodeRules(c.nodes[name]) {
		if r.Hardness == reason.Hard {
			n.hold(f.rule(r, Ref{kindNode, "", name}))
		}
	}
	for _, p := range c.onNode[name] {
		h := of[p]
		if h == nil { // it goes with the node
			continue
		}
		n.Pods++
		w := c.WorkloadOf(p)
		for _, m := range c.moving(p) {
			if m.Hardness == reason.Hard {
				n.hold(f.rule(m, w))
			}
		}
		if h.elsewhere(name, rep[p].Spec.NodeName) {
			continue
		}
		n.NoRoom = n.NoRoom || h.noRoom || len(h.rules) == 0
		for _, r := range h.rules {
			n.hold(f.rule(r, w))
		}
	}
	f.Nodes = append(f.Nodes, n)
}

func (n *FleetNode) hold(rule int) {
	if !slices.Contains(n.HeldBy, rule) {
		n.HeldBy = append(n.HeldBy, rule)
	}
}

// rule gives the index of a constraint. Those of one workload that differ only in the pod are one: someone
// changes the workload.
func (f *fleet) rule(c Constraint, w Ref) int {
	at := c.Source
	if at.Kind == kindPod {
		at.Ref = w
	}
	if f.index[at] == nil {
		f.index[at] = map[reason.Code]int{}
	}
	i, ok := f.index[at][c.Code]
	if !ok {
		i = len(f.Rules)
		f.index[at][c.Code] = i
		c.Source = at
		f.Rules = append(f.Rules, HeldRule{Constraint: c, Workload: w})
	}
	return i
}

// count counts, and puts what holds most first.
func (f *fleet) count() {
	for _, n := range f.Nodes {
		for _, i := range n.HeldBy {
			r := &f.Rules[i]
			r.Holds++
			if len(n.HeldBy) == 1 && !n.NoRoom {
				r.HoldsAlone++
			}
			if n.NearlyEmpty {
				r.NearlyEmpty++
			}
		}
	}
	order := make([]int, len(f.Rules))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.Rules[b].NearlyEmpty, f.Rules[a].NearlyEmpty), cmp.Compare(f.Rules[b].Holds, f.Rules[a].Holds))
	})
	rank, sorted := make([]int, len(order)), make([]HeldRule, len(order))
	for to, from := range order {
		rank[from], sorted[to] = to, f.Rules[from]
	}
	f.Rules = sorted
	for _, n := range f.Nodes {
		for i, r := range n.HeldBy {
			n.HeldBy[i] = rank[r]
		}
		slices.Sort(n.HeldBy)
	}
}
