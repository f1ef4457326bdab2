package sentence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// forbids says what forbids the pods another node, then what speaks against one, then the rest.
func (w *writer) forbids(records []*observer.Record) {
	r := records[0]
	p := r.Pod.Placement
	if p == nil {
		p = &observer.Placement{}
	}
	var hard, soft []string
	for _, r := range records {
		hard = append(hard, hostPorts(r.Ports)...)
	}
	for _, k := range slices.Sorted(maps.Keys(p.NodeSelector)) {
		hard = append(hard, fmt.Sprintf("held to nodes with %s=%s: node selector", k, p.NodeSelector[k]))
	}
	h, s := nodeAffinity(p.NodeAffinity)
	hard, soft = append(hard, h...), append(soft, s...)
	add := func(required bool, text string) {
		if required {
			hard = append(hard, text)
		} else {
			soft = append(soft, text)
		}
	}
	for _, t := range p.PodAntiAffinity {
		add(t.Required, antiAffinity(t))
	}
	for _, t := range p.PodAffinity {
		add(t.Required, affinity(t))
	}
	for _, t := range p.TopologySpread {
		add(t.WhenUnsatisfiable != "ScheduleAnyway", spread(t))
	}
	for _, g := range p.SchedulingGates {
		hard = append(hard, "waits until somebody removes the scheduling gate "+g)
	}
	if p.ResourceClaims > 0 {
		hard = append(hard, "held to nodes that have what its "+plural(p.ResourceClaims, "device claim")+" ask for")
	}
	incomplete := incompleteOf(records)
	switch {
	case len(hard) > 0:
	case len(incomplete) > 0:
		hard = append(hard, "what forbids another node is not all known: see below")
	case r.WorkloadKind == "Node":
		hard = append(hard, "runs on this node and on no other")
	case r.WorkloadKind == "DaemonSet":
		hard = append(hard, "one on each node that it fits: a DaemonSet (its own required node affinity is not visible)")
	default:
		hard = append(hard, "nothing that it asks for forbids another node")
	}
	for _, text := range slices.Concat(hard, soft, rest(p)) {
		w.line("    - %s", text)
	}
	if len(incomplete) > 0 {
		w.line("    ! incomplete: of %s something was left out, since it was past a bound; there is more than is said here", list(incomplete, "and"))
	}
}

func incompleteOf(records []*observer.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.Incomplete...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func hostPorts(ports []observer.Port) []string {
	var all []string
	for _, p := range ports {
		if p.HostPort != 0 {
			all = append(all, fmt.Sprintf("held one per node: it takes port %d/%s of its node", p.HostPort, p.Protocol))
		}
	}
	return all
}

// rest is what forbids no node, and changes what happens.
func rest(p *observer.Placement) []string {
	var all []string
	for _, t := range p.Tolerations {
		all = append(all, toleration(t))
	}
	if p.PriorityClass != "" || p.Priority != 0 {
		all = append(all, strings.TrimSpace(fmt.Sprintf("priority %d %s", p.Priority, p.PriorityClass)))
	}
	if p.PreemptionPolicy != "" {
		all = append(all, "drives out no pods of lower priority")
	}
	if p.HostNetwork {
		all = append(all, "uses the network of its node")
	}
	if p.SchedulerName != "" {
		all = append(all, "is scheduled by "+p.SchedulerName+", not by Kubernetes' own scheduler")
	}
	if p.RuntimeClass != "" {
		all = append(all, "runs under the runtime class "+p.RuntimeClass+", which may choose nodes of its own")
	}
	if g := p.TerminationGraceSeconds; g != nil {
		all = append(all, fmt.Sprintf("may take %d s to stop", *g))
	}
	return all
}

func toleration(t observer.Toleration) string {
	taint := t.Key
	switch {
	case t.Key == "":
		taint = "any taint"
	case t.Operator == "Equal" || t.Operator == "":
		taint += "=" + t.Value
	case t.Operator == "Gt":
		taint += " > " + t.Value
	case t.Operator == "Lt":
		taint += " < " + t.Value
	}
	text := "may run on nodes tainted " + taint
	if t.Key == "" {
		text = "may run on nodes with any taint"
	}
	if t.Effect != "" {
		text += " (" + t.Effect + ")"
	}
	if t.Seconds != nil {
		text += fmt.Sprintf(", and stays %d s once the taint appears", *t.Seconds)
	}
	return text
}
