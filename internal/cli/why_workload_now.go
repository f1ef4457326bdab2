package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/explain"
)

func (v workloadView) title() string {
	counts, waits := map[string]int{}, 0
	for _, p := range v.r.Now.Pods {
		if p.Node == "" || p.Phase == "Pending" {
			waits++
			continue
		}
		counts[p.Node]++
	}
	runs := len(v.r.Now.Pods) - waits
	title := v.r.Subject.String()
	switch {
	case len(v.r.Now.Pods) == 0:
		return title + ": has no pods"
	case v.r.Subject.Kind == "Pod" && waits == 1:
		return title + ": waits"
	case v.r.Subject.Kind == "Pod":
		return title + ": is on " + v.r.Now.Pods[0].Node
	case waits == 0:
		return fmt.Sprintf("%s: %s on %s", title, running(runs), plural(len(counts), "node"))
	case runs == 0:
		return fmt.Sprintf("%s: %s", title, waiting(waits))
	}
	return fmt.Sprintf("%s: %s on %s, %s", title, running(runs), plural(len(counts), "node"), waiting(waits))
}

func running(n int) string {
	if n == 1 {
		return "1 pod runs"
	}
	return fmt.Sprintf("%d pods run", n)
}

func waiting(n int) string {
	if n == 1 {
		return "1 pod waits"
	}
	return fmt.Sprintf("%d pods wait", n)
}

func (v workloadView) lead(all bool) []string {
	var lines []string
	now := v.r.Now
	shown := 0
	for _, p := range now.Pods {
		if p.Waiting == "" {
			continue
		}
		if shown++; shown > mostWaiting && !all {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s waits, the cluster says: %s", p.Name, p.Waiting))
	}
	if shown > mostWaiting && !all {
		lines = append(lines, fmt.Sprintf("and %d more", shown-mostWaiting))
	}
	lines = append(lines, "requests "+amounts(now.Requests))
	for i, m := range now.Machines {
		if i == mostNodeGroups && !all {
			lines = append(lines, fmt.Sprintf("on %d more", len(now.Machines)-i))
			break
		}
		lines = append(lines, "on "+machineText(m))
	}
	fits := 0
	for _, n := range v.r.Nodes {
		if n.Fits {
			fits++
		}
	}
	if len(v.r.Nodes) > 0 {
		what := "it"
		if now.Evaluated != "" && len(now.Pods) > 1 {
			_, what, _ = strings.Cut(now.Evaluated, "/")
		}
		line := fmt.Sprintf("%s would fit %d of %s", what, fits, plural(len(v.r.Nodes), "node"))
		if v.evaluatedRuns() {
			line += ", counting its own"
		}
		lines = append(lines, line)
	} else {
		lines = append(lines, "whether it fits a node is not known, since no nodes could be read")
	}
	return lines
}

// evaluatedRuns says whether the pod that was held against the nodes is on one that would take it.
func (v workloadView) evaluatedRuns() bool {
	for _, p := range v.r.Now.Pods {
		if _, name, _ := strings.Cut(v.r.Now.Evaluated, "/"); p.Name == name {
			return slices.ContainsFunc(v.r.Nodes, func(n explain.NodeVerdict) bool { return n.Name == p.Node && n.Fits })
		}
	}
	return false
}

// amounts writes what counts first.
func amounts(list map[string]string) string {
	var parts []string
	for _, name := range []string{"cpu", "memory"} {
		if q, ok := list[name]; ok {
			parts = append(parts, name+" "+q)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if name != "cpu" && name != "memory" && name != "pods" {
			parts = append(parts, name+" "+list[name])
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func machineText(m explain.Machine) string {
	about := []string{}
	for _, s := range []string{m.Pool, m.Type, m.Zone, m.Arch} {
		if s != "" {
			about = append(about, s)
		}
	}
	text := m.Name
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	few := map[string]string{}
	for _, name := range []string{"cpu", "memory"} {
		if q, ok := m.Allocatable[name]; ok {
			few[name] = q
		}
	}
	for name, q := range m.Allocatable {
		if strings.Contains(name, "/") {
			few[name] = q
		}
	}
	return text + ", which has " + amounts(few)
}
