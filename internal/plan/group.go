package plan

import (
	"slices"

	"github.com/berthdev/berth/internal/placement"
)

// Bounds of what is looked at. Beyond them nothing keeps steps apart but the cluster: a pod that can't be
// where the workspace is waits for the scheduler then, instead of for the step that has it.
const (
	mostGroups = 128     // distinct demands
	mostPairs  = 100_000 // alternatives of two demands that are compared
)

// Excludes says whether steps of two groups can't have the workspace at the same time.
func (w *Workspace) Excludes(a, b int) bool {
	if a < 0 || a >= len(w.Apart) {
		return false
	}
	_, found := slices.BinarySearch(w.Apart[a], b)
	return found
}

// group finds the steps that share a volume which only one node can have, and that no node could take both.
func (p *Plan) group() {
	if p.Workspace == nil || p.Workspace.AccessMode != "ReadWriteOnce" {
		return
	}
	var demands []placement.NodeDemand
	groups := map[string]int{} // by the demand's ID
	of := make([]int, len(p.Steps))
	for i := range p.Steps {
		of[i] = -1
		if !p.Steps[i].Work.Workspace {
			continue
		}
		d := placement.DemandOf(p.Steps[i].Pod.Fragment)
		g, known := groups[d.ID()]
		if !known && len(demands) == mostGroups {
			continue
		}
		if !known {
			g = len(demands)
			groups[d.ID()], demands = g, append(demands, d)
		}
		of[i] = g
	}
	apart, any := exclusions(demands)
	if !any {
		return
	}
	p.Workspace.Apart = apart
	for i, g := range of {
		if g >= 0 {
			p.Steps[i].WorkspaceGroup = &g
		}
	}
}

// exclusions gives for each demand those that contradict it, and whether there are any.
func exclusions(demands []placement.NodeDemand) (apart [][]int, any bool) {
	apart = make([][]int, len(demands))
	left := mostPairs
	for i, d := range demands {
		for j := i + 1; j < len(demands); j++ {
			o := demands[j]
			if left -= d.Alternatives() * o.Alternatives(); left < 0 {
				continue
			}
			if d.Excludes(o) != "" {
				apart[i], apart[j], any = append(apart[i], j), append(apart[j], i), true
			}
		}
	}
	for i := range apart {
		if apart[i] == nil {
			apart[i] = []int{} // in JSON a list, not null
		}
	}
	return apart, any
}
