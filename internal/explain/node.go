package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// NodeReport says why a node can't be emptied, or that it can.
type NodeReport struct {
	Subject     Ref               `json:"subject" yaml:"subject,required" doc:"the node"`
	Now         Machine           `json:"now" yaml:"now,required" doc:"the machine"`
	Requested   map[string]string `json:"requested" yaml:"requested,required" doc:"by the pods on it, by resource"`
	Constraints []Constraint      `json:"constraints" yaml:"constraints,required" doc:"what holds the node: of its pods, and of its own"`
	Pods        []PodOnNode       `json:"pods" yaml:"pods,required" doc:"each pod on it, by namespace and name"`
	Together    Together          `json:"together" yaml:"together,required" doc:"whether the rest of the cluster could take all of them at once"`
	Engines     []EngineVerdict   `json:"engines" yaml:"engines,required" doc:"for each engine that removes pods or nodes what holds it up"`
	NotKnown    []Unread          `json:"not_known" yaml:"not_known,required" doc:"what could not be read, and what no API shows"`
	Incomplete  bool              `json:"incomplete" yaml:"incomplete,required" doc:"something could not be read that a cluster's API has"`
}

// PodOnNode is a pod that would have to go.
type PodOnNode struct {
	Ref
	Workload  Ref   `json:"workload" yaml:"workload,required" doc:"that it belongs to"`
	Stays     bool  `json:"stays" yaml:"stays,required" doc:"it belongs to the node, and goes when the node goes: of a DaemonSet, or static"`
	HeldBy    []int `json:"held_by" yaml:"held_by,required" doc:"indexes of constraints: what stops or costs its removal and, if it fits no other node, the fewest rules found without which it would"`
	Elsewhere int   `json:"elsewhere" yaml:"elsewhere,required" doc:"on how many other nodes it would fit, were it the only one to move"`
	NoRoom    bool  `json:"no_room" yaml:"no_room,required" doc:"it fits no other node, and no rule is to blame: none has room for it"`
}

// EngineVerdict is whether an engine could empty the node.
type EngineVerdict struct {
	Engine reason.Engine `json:"engine" yaml:"engine,required" doc:"eviction is kubectl drain, and everything that asks politely"`
	HeldBy []int         `json:"held_by" yaml:"held_by,required" doc:"indexes of constraints; none if nothing stops it"`
}

// removing are the engines that empty nodes.
var removing = []reason.Engine{reason.Eviction, reason.Karpenter, reason.ClusterAutoscaler}

// Node explains a node. It is not ok if there is none of that name.
func (c *Cluster) Node(name string) (*NodeReport, bool) {
	n := c.nodes[name]
	if n == nil {
		return nil, false
	}
	r := &NodeReport{Subject: Ref{kindNode, "", name}, Now: machineOf(n), Constraints: c.nodeRules(n), Pods: []PodOnNode{},
		Requested: quantities(requestedBy(c.onNode[name]))}
	if r.Constraints == nil {
		r.Constraints = []Constraint{}
	}
	var verdicts []fit.Verdict
	var leaving []*corev1.Pod
	for _, p := range c.onNode[name] {
		on := PodOnNode{Ref: Ref{kindPod, p.Namespace, p.Name}, Workload: c.WorkloadOf(p), Stays: isDaemon(p) || isMirror(p), HeldBy: []int{}}
		if on.Stays {
			r.Pods = append(r.Pods, on)
			continue
		}
		leaving = append(leaving, p)
		for _, m := range c.moving(p) {
			on.HeldBy = append(on.HeldBy, r.index(m))
		}
		all := c.snapshot.Explain(p)
		verdicts = append(verdicts, all...)
		on.Elsewhere = elsewhere(all, name)
		if on.Elsewhere == 0 {
			away, _ := c.away(p, others(all, name))
			for _, rule := range away {
				on.HeldBy = append(on.HeldBy, r.index(rule))
			}
			on.NoRoom = len(away) == 0
		}
		r.Pods = append(r.Pods, on)
	}
	r.Together = c.together(name, leaving)
	r.Engines = r.engines()
	r.NotKnown, r.Incomplete = c.notKnown(verdicts)
	if c.facts.Pods == nil {
		r.Together = Together{Homeless: []Ref{}, Note: "pods could not be read"}
	}
	return r, true
}

// index is where a constraint is in the report, which gets it if it has not got it yet.
func (r *NodeReport) index(c Constraint) int {
	i := slices.IndexFunc(r.Constraints, func(o Constraint) bool { return o.Code == c.Code && o.Source == c.Source && o.Message == c.Message })
	if i < 0 {
		r.Constraints = append(r.Constraints, c)
		i = len(r.Constraints) - 1
	}
	return i
}

func elsewhere(verdicts []fit.Verdict, but string) int {
	n := 0
	for i := range verdicts {
		if verdicts[i].Node != but && verdicts[i].Fits() {
			n++
		}
	}
	return n
}

func others(verdicts []fit.Verdict, but string) []fit.Verdict {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v fit.Verdict) bool { return v.Node == but })
}

// engines says of each engine what stops it. That a pod has no place elsewhere stops those that look for one
// first; whoever evicts does not look.
func (r *NodeReport) engines() []EngineVerdict {
	all := make([]EngineVerdict, 0, len(removing))
	for _, e := range removing {
		v := EngineVerdict{e, []int{}}
		for i, c := range r.Constraints {
			if c.Hardness == reason.Hard && slices.Contains(c.Engines, e) {
				v.HeldBy = append(v.HeldBy, i)
			}
		}
		all = append(all, v)
	}
	return all
}
