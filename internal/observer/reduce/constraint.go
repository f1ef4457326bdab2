package reduce

import (
	"cmp"
	"slices"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Workload is the pods of a workload that ask the same of their node.
type Workload struct {
	Namespace, Kind, Name, Variant string
	Pods                           int
	Constraints                    []Constraint // sorted, each once
}

// Constraint is what forbids a node, or speaks against one, in the fewest words.
type Constraint struct {
	Kind        string // as a placement names it; host_port
	TopologyKey string // of pod affinities and spreads
	Hard        bool   // else a preference
}

// Workloads gives the workloads of a view, sorted.
func (v *View) Workloads() []Workload {
	type key struct{ namespace, kind, name, variant string }
	pods := map[key]map[*Pod]bool{}
	for _, g := range v.groups {
		k := key{g.key.Namespace, g.key.WorkloadKind, g.key.WorkloadName, g.key.Variant}
		if pods[k] == nil {
			pods[k] = map[*Pod]bool{}
		}
		for _, m := range g.members {
			pods[k][m.pod] = true
		}
	}
	all := make([]Workload, 0, len(pods))
	for k, of := range pods {
		w := Workload{Namespace: k.namespace, Kind: k.kind, Name: k.name, Variant: k.variant, Pods: len(of)}
		var ports, placement []Constraint // the placement is the same for all of them
		for p := range of {
			ports = append(ports, hostPorts(p)...)
			if placement == nil {
				placement = Constraints(&p.Placement.Body)
			}
		}
		w.Constraints = append(ports, placement...)
		slices.SortFunc(w.Constraints, Constraint.compare)
		w.Constraints = slices.Compact(w.Constraints)
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b Workload) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Variant, b.Variant))
	})
	return all
}

func (c Constraint) compare(other Constraint) int {
	hard := func(c Constraint) int {
		if c.Hard {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(c.Kind, other.Kind), cmp.Compare(c.TopologyKey, other.TopologyKey), cmp.Compare(hard(c), hard(other)))
}

const hostPort = "host_port"

func hostPorts(p *Pod) []Constraint {
	for i := range p.Containers {
		for _, port := range p.Containers[i].Template.Body.Ports {
			if port.HostPort != 0 {
				return []Constraint{{Kind: hostPort, Hard: true}}
			}
		}
	}
	return nil
}

// Constraints are those of a placement. Tolerations, priority and the like forbid no node.
func Constraints(p *observer.Placement) []Constraint {
	var all []Constraint
	if len(p.NodeSelector) > 0 {
		all = append(all, Constraint{Kind: "node_selector", Hard: true})
	}
	for _, e := range p.NodeAffinity {
		all = append(all, Constraint{Kind: "node_affinity", Hard: e.Required})
	}
	for _, t := range p.PodAffinity {
		all = append(all, Constraint{"pod_affinity", t.TopologyKey, t.Required})
	}
	for _, t := range p.PodAntiAffinity {
		all = append(all, Constraint{"pod_anti_affinity", t.TopologyKey, t.Required})
	}
	for _, s := range p.TopologySpread {
		all = append(all, Constraint{"topology_spread", s.TopologyKey, s.WhenUnsatisfiable == "DoNotSchedule"})
	}
	if len(p.SchedulingGates) > 0 {
		all = append(all, Constraint{Kind: "scheduling_gates", Hard: true})
	}
	if p.ResourceClaims > 0 {
		all = append(all, Constraint{Kind: "resource_claims", Hard: true})
	}
	slices.SortFunc(all, Constraint.compare)
	return slices.Compact(all)
}
