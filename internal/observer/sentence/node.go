package sentence

import (
	"maps"
	"slices"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

func (w *writer) nodes(p *observer.NodeMetadata) {
	w.line("%s", plural(len(p.Nodes), "node"))
	for i := range p.Nodes {
		w.node(&p.Nodes[i])
	}
}

func (w *writer) node(n *observer.Node) {
	w.line("")
	var kind []string
	for _, s := range []string{n.InstanceType, n.CapacityType, n.Zone, n.Architecture, n.OperatingSystem} {
		if s != "" {
			kind = append(kind, s)
		}
	}
	w.line("%s: %s", n.Name, strings.Join(kind, ", "))
	switch {
	case len(n.Capacity) == 0:
	case maps.Equal(n.Capacity, n.Allocatable):
		w.line("  has %s, all of it for pods", amounts(n.Capacity))
	default:
		w.line("  has %s", amounts(n.Capacity))
		if len(n.Allocatable) > 0 {
			w.line("  of which pods may have %s", amounts(n.Allocatable))
		}
	}
	if ready, ok := n.Conditions["Ready"]; ok && ready.Status != "True" {
		w.line("  is not ready: %s", ready.Reason)
	}
	for _, c := range slices.Sorted(maps.Keys(n.Conditions)) {
		if c != "Ready" && n.Conditions[c].Status == "True" {
			w.line("  has %s", c)
		}
	}
	if n.Unschedulable {
		w.line("  takes no new pods: cordoned")
	}
	for _, t := range n.Taints {
		taint := t.Key
		if t.Value != "" {
			taint += "=" + t.Value
		}
		switch t.Effect {
		case "PreferNoSchedule":
			w.line("  is better avoided by pods that don't tolerate %s", taint)
		case "NoExecute":
			w.line("  takes, and keeps, only pods that tolerate %s (%s)", taint, t.Effect)
		default:
			w.line("  takes only pods that tolerate %s (%s)", taint, t.Effect)
		}
	}
	if len(n.Incomplete) > 0 {
		w.line("  ! incomplete: of %s something was left out, since it was past a bound", list(n.Incomplete, "and"))
	}
}
