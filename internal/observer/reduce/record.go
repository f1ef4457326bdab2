package reduce

import (
	"cmp"
	"iter"
	"slices"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// EachRecord gives the records, sorted by key. Each is made when it is asked for.
func (v *View) EachRecord() iter.Seq[*observer.Record] {
	return func(yield func(*observer.Record) bool) {
		for _, g := range v.groups {
			if !yield(g.record()) {
				return
			}
		}
	}
}

// EachNode gives the nodes, sorted by name, with the labels that the records' placements name.
func (v *View) EachNode() iter.Seq[*observer.Node] {
	return func(yield func(*observer.Node) bool) {
		for _, n := range v.nodes {
			if !yield(n.with(v.labels)) {
				return
			}
		}
	}
}

// oldest is whose facts count where pods under one key differ.
func (g *group) oldest() member {
	return slices.MinFunc(g.members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.pod.Created, b.pod.Created), cmp.Compare(a.pod.UID, b.pod.UID))
	})
}

func (g *group) record() *observer.Record {
	m := g.oldest()
	t := &m.container.Template.Body
	r := &observer.Record{Key: g.key, Image: t.Image, Init: t.Init, Resources: t.Resources, Ports: t.Ports, Incomplete: fields(g.drops())}
	r.Pod = observer.Pod{QOSClass: m.pod.QOS.Value(), Replicas: len(g.members)}
	if w := m.pod.Whole; w != nil {
		r.Pod.Resources, r.Pod.Overhead = w.Body.Resources, w.Body.Overhead
	}
	if p := m.pod.Placement; !free(p) {
		r.Pod.Placement = &p.Body
	}
	r.Pod.Phases = g.count(func(p *Pod) Name { return p.Phase })
	r.Pod.Nodes = g.count(func(p *Pod) Name { return p.Node })
	r.Pod.Unscheduled = g.count(func(p *Pod) Name { return p.Unscheduled })
	r.Pod.UnscheduledCauses = g.causes()
	return r
}

var unconstrained = block(observer.Placement{}, nil)

// free says whether nothing of the placement is left to say.
func free(p *Block[observer.Placement]) bool { return p.variant == unconstrained.variant }

// count counts the pods by a fact, those that don't have it left out.
func (g *group) count(fact func(*Pod) Name) map[string]int {
	var n map[string]int
	for _, m := range g.members {
		if f := fact(m.pod); f != none {
			if n == nil {
				n = map[string]int{}
			}
			n[f.Value()]++
		}
	}
	return n
}

func (g *group) causes() map[string]int {
	var n map[string]int
	for _, m := range g.members {
		if m.pod.Causes == 0 {
			continue
		}
		if n == nil {
			n = map[string]int{}
		}
		for i, cause := range allCauses {
			if m.pod.Causes.Has(i) {
				n[cause]++
			}
		}
	}
	return n
}

// drops are those of all pods and of this container, each once.
func (g *group) drops() []Drop {
	var all []Drop
	for _, m := range g.members {
		all = append(all, m.container.Template.Drops...)
		all = append(all, m.pod.Placement.Drops...)
		if m.pod.Whole != nil {
			all = append(all, m.pod.Whole.Drops...)
		}
	}
	slices.SortFunc(all, Drop.compare)
	return slices.Compact(all)
}

// fields gives the fields of drops that are sorted, each once.
func fields(drops []Drop) []string {
	var all []string
	for _, d := range drops {
		if len(all) == 0 || all[len(all)-1] != d.Field {
			all = append(all, d.Field)
		}
	}
	return all
}

func (n *Node) with(labels map[string]bool) *observer.Node {
	said := n.Said
	for _, l := range n.Labels {
		if labels[l.Key.Value()] {
			if said.Labels == nil {
				said.Labels = map[string]string{}
			}
			said.Labels[l.Key.Value()] = l.Value.Value()
		}
	}
	drops := slices.Clone(n.Drops)
	slices.SortFunc(drops, Drop.compare)
	said.Incomplete = fields(drops)
	return &said
}
