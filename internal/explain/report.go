package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// Report is everything there is to say of a workload, or of one pod.
type Report struct {
	Subject     Ref           `json:"subject" yaml:"subject,required" doc:"what was asked about"`
	Now         Now           `json:"now" yaml:"now,required" doc:"where its pods are, what they ask for, and what the machines have"`
	Constraints []Constraint  `json:"constraints" yaml:"constraints,required" doc:"all of them, hard and soft"`
	Nodes       []NodeVerdict `json:"nodes" yaml:"nodes,required" doc:"for each node whether the pod would fit, by name"`
	Unlocks     []Unlock      `json:"unlocks" yaml:"unlocks,required" doc:"what would open without which constraints, the largest gain first; pairs only if no single one opens any node"`
	Moving      []Constraint  `json:"moving" yaml:"moving,required" doc:"what stops the removal of its pods from their nodes, and what it would cost"`
	NotKnown    []Unread      `json:"not_known" yaml:"not_known,required" doc:"what could not be read, and what no API shows"`
	Incomplete  bool          `json:"incomplete" yaml:"incomplete,required" doc:"something could not be read that a cluster's API has: there may be constraints that are not here"`
}

// NodeVerdict is whether the pod would fit a node. One that is not known does not count as fitting.
type NodeVerdict struct {
	Name     string       `json:"name" yaml:"name,required" doc:"of the node"`
	Fits     bool         `json:"fits" yaml:"fits,required" doc:"nothing is in the way, and all is known"`
	Reasons  []NodeReason `json:"reasons" yaml:"reasons,required" doc:"why not, all of them"`
	NotKnown []string     `json:"not_known" yaml:"not_known,required" doc:"what would have to be known besides"`
}

// NodeReason is why a node is no place for the pod.
type NodeReason struct {
	Code    reason.Code `json:"code" yaml:"code,required" doc:"as of constraints"`
	Message string      `json:"message" yaml:"message,required" doc:"about this node"`
}

// Workload explains a workload or a pod. It is not ok if there is no such thing among the facts.
func (c *Cluster) Workload(subject Ref) (*Report, bool) {
	pods, ok := c.podsOf(subject)
	if !ok {
		return nil, false
	}
	p, made := c.evaluated(subject, pods)
	if p == nil {
		return nil, false
	}
	verdicts := c.snapshot.Explain(p)
	rules := c.rules(p, verdicts)
	r := &Report{Subject: subject, Now: c.now(subject, pods, p, made), Constraints: []Constraint{}, Moving: []Constraint{}, Unlocks: c.unlocks(p, verdicts, rules)}
	for _, rule := range rules {
		r.Constraints = append(r.Constraints, rule.Constraint)
	}
	r.Constraints = append(r.Constraints, c.othersVolumes(pods, p)...)
	r.Constraints = append(r.Constraints, c.instanceRules(p)...)
	for _, v := range verdicts {
		r.Nodes = append(r.Nodes, verdictOf(v))
	}
	if r.Nodes == nil {
		r.Nodes = []NodeVerdict{}
	}
	for _, q := range pods {
		if q.Spec.NodeName != "" || made {
			r.Moving = appendNew(r.Moving, c.moving(q)...)
		}
	}
	if made || len(pods) == 0 || !slices.ContainsFunc(pods, func(q *corev1.Pod) bool { return q.Spec.NodeName != "" }) {
		r.Moving = appendNew(r.Moving, c.moving(p)...)
	}
	r.Moving = appendNew(r.Moving, c.poolRules(pods)...)
	r.NotKnown, r.Incomplete = c.notKnown(verdicts)
	return r, true
}

// appendNew leaves out what is there already. What differs in the pod alone is the same.
func appendNew(all []Constraint, more ...Constraint) []Constraint {
	for _, m := range more {
		known := slices.ContainsFunc(all, func(a Constraint) bool {
			same := a.Source == m.Source || a.Source.Kind == kindPod && m.Source.Kind == kindPod && a.Source.Path == m.Source.Path
			return same && a.Code == m.Code && a.Message == m.Message
		})
		if !known {
			all = append(all, m)
		}
	}
	return all
}

func verdictOf(v fit.Verdict) NodeVerdict {
	n := NodeVerdict{Name: v.Node, Fits: v.Fits(), Reasons: []NodeReason{}, NotKnown: []string{}}
	for _, r := range v.Reasons {
		n.Reasons = append(n.Reasons, NodeReason{reason.Code(r.Kind), r.String()})
	}
	for _, u := range v.NotKnown {
		n.NotKnown = append(n.NotKnown, u.What)
	}
	return n
}
