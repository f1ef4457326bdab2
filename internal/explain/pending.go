package explain

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// Pending is every pod that waits, grouped by what it waits for.
type Pending struct {
	Causes     []Cause  `json:"causes" yaml:"causes,required" doc:"that which holds most pods first"`
	Pods       int      `json:"pods" yaml:"pods,required" doc:"that wait"`
	NotKnown   []Unread `json:"not_known" yaml:"not_known,required" doc:"what could not be read, and what no API shows"`
	Incomplete bool     `json:"incomplete" yaml:"incomplete,required" doc:"something could not be read that a cluster's API has"`
}

// Cause is why pods wait.
type Cause struct {
	Code      reason.Code      `json:"code" yaml:"code,required" doc:"the constraint, or what it waits for if that is no constraint"`
	Message   string           `json:"message" yaml:"message,required" doc:"a sentence"`
	Fix       string           `json:"fix" yaml:"fix,required" doc:"what would change it; empty if nothing is known to"`
	Workloads []PendingOfCause `json:"workloads" yaml:"workloads,required" doc:"those whose pods wait for it"`
	Pods      int              `json:"pods" yaml:"pods,required" doc:"that wait for it"`
}

// PendingOfCause is the waiting pods of a workload.
type PendingOfCause struct {
	Workload  Ref      `json:"workload" yaml:"workload,required" doc:"the workload"`
	Pods      []string `json:"pods" yaml:"pods,required" doc:"names of those that wait"`
	Scheduler string   `json:"scheduler" yaml:"scheduler,required" doc:"the cluster's own words; empty if it has none"`
	Also      []string `json:"also" yaml:"also,required" doc:"what else is in the way, as sentences"`
}

// Pending explains every pod of the namespace that waits; of all if it is empty. Pods of one workload that
// are alike are held against the nodes once.
func (c *Cluster) Pending(namespace string) *Pending {
	r := &Pending{Causes: []Cause{}}
	var known []fit.Verdict
	index := map[string]int{}
	asked := map[string]answer{}
	for _, w := range c.Workloads() {
		for _, p := range c.workloads[w] {
			if namespace != "" && p.Namespace != namespace || !waits(p) {
				continue
			}
			key := c.classKey(p)
			a, ok := asked[key]
			if !ok {
				a = c.why(p)
				asked[key] = a
				known = append(known, a.known...)
			}
			r.Pods++
			i, ok := index[a.key]
			if !ok {
				i = len(r.Causes)
				index[a.key] = i
				r.Causes = append(r.Causes, Cause{Code: a.code, Message: a.message, Fix: a.fix})
			}
			r.Causes[i].add(w, p, a)
		}
	}
	slices.SortStableFunc(r.Causes, func(a, b Cause) int { return cmp.Or(b.Pods-a.Pods, cmp.Compare(a.Message, b.Message)) })
	r.NotKnown, r.Incomplete = c.notKnown(known)
	if c.facts.Pods == nil {
		r.Incomplete = true
	}
	return r
}

func (c *Cause) add(w Ref, p *corev1.Pod, a answer) {
	c.Pods++
	i := slices.IndexFunc(c.Workloads, func(o PendingOfCause) bool { return o.Workload == w })
	if i < 0 {
		i = len(c.Workloads)
		c.Workloads = append(c.Workloads, PendingOfCause{Workload: w, Scheduler: waitingText(p), Also: a.also})
	}
	c.Workloads[i].Pods = append(c.Workloads[i].Pods, p.Name)
}

// waits says whether the pod has not started: it has no node, or its node has not started it.
func waits(p *corev1.Pod) bool {
	return !ended(p) && p.DeletionTimestamp == nil && (p.Spec.NodeName == "" || p.Status.Phase == corev1.PodPending)
}

// answer is why one pod waits.
type answer struct {
	key, message, fix string
	code              reason.Code
	also              []string
	known             []fit.Verdict
}

func (c *Cluster) why(p *corev1.Pod) answer {
	if p.Spec.NodeName != "" {
		return onNode(p)
	}
	verdicts := c.snapshot.Explain(p)
	rules := c.rules(p, verdicts)
	a := answer{known: verdicts}
	free := 0
	for i := range verdicts {
		if len(verdicts[i].Reasons) == 0 {
			free++
		}
	}
	switch {
	case c.facts.Nodes == nil:
		a.key, a.code, a.message = "nodes", reason.Unscheduled, "nodes can't be read: the scheduler's own words are all there is"
		return a
	case len(verdicts) == 0:
		a.key, a.code, a.message = "none", reason.Unschedulable, "there are no nodes"
		return a
	case free > 0:
		a.key, a.code = "free", reason.Unscheduled
		a.message = "nodes would take it, and the scheduler has not placed it yet"
		return a
	}
	guilty := c.guilty(p, verdicts, rules)
	if len(guilty) == 0 {
		a.key, a.code, a.message = "unknown", reason.Unschedulable, "no node takes it"
		return a
	}
	first := rules[guilty[0].rule]
	a.code, a.message, a.key = first.Code, first.Message, string(first.Code)+first.Message
	if guilty[0].opens > 0 {
		a.fix = fmt.Sprintf("without it %s would take it", plural(guilty[0].opens, "node"))
	}
	for _, g := range guilty[1:] {
		a.also = append(a.also, rules[g.rule].Message)
	}
	return a
}
