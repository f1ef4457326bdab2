package reduce

import (
	"iter"
	"slices"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Cluster is what is known of one.
type Cluster struct {
	Pods      iter.Seq[*Pod] // each once, in any order
	Nodes     iter.Seq[*Node]
	Owner     func(uid string) *Object  // nil if it is not known
	Namespace func(name string) *Object // nil if it is not known
	// NamespacesKnown is false where namespaces can't be read. Then no pod is held back until its namespace
	// is known, and no namespace excludes itself.
	NamespacesKnown bool
}

// Options say what of it may be said.
type Options struct {
	Namespaces Filter
	NodeLabels []string // keys of node labels that are said whether or not a placement names them
}

// View is what there is to say at one moment. Its sequences may be gone through several times.
type View struct {
	Counts
	groups []*group // sorted by key
	nodes  []*Node  // sorted by name
	labels map[string]bool
}

// Counts are what coverage says of a view.
type Counts struct {
	PodsSeen         int
	PodsExcluded     map[string]int
	Records          int
	Variants         int
	Nodes            int
	OwnersUnresolved int
	NamespaceOptOut  string

	PlacementValuesDropped, PlacementTermsDropped, NodesValuesDropped int
}

// group is the pods under one key.
type group struct {
	key     observer.Key
	members []member
}

type member struct {
	pod       *Pod
	container *Container
}

// Look groups the pods into records.
func Look(c Cluster, o Options) *View {
	v := &View{labels: map[string]bool{}, Counts: Counts{PodsExcluded: map[string]int{}, NamespaceOptOut: observer.OptOutNotEvaluated}}
	if c.NamespacesKnown {
		v.NamespaceOptOut = observer.OptOutEvaluated
	}
	for _, k := range o.NodeLabels {
		v.labels[k] = true
	}
	groups := map[observer.Key]*group{}
	for p := range c.Pods {
		v.PodsSeen++
		w := workloadOf(p, c.Owner)
		if why := excluded(p, w, c, o.Namespaces); why != "" {
			v.PodsExcluded[why]++
			continue
		}
		if w.unresolved {
			v.OwnersUnresolved++
		}
		for i := range p.Containers {
			m := member{p, &p.Containers[i]}
			key := m.key(w)
			g := groups[key]
			if g == nil {
				g = &group{key: key}
				groups[key] = g
			}
			g.members = append(g.members, m)
		}
	}
	v.take(groups)
	v.takeNodes(c.Nodes)
	return v
}

func (m member) key(w workload) observer.Key {
	return observer.Key{Namespace: m.pod.Namespace.Value(), WorkloadKind: w.kind, WorkloadName: w.name,
		Container: m.container.Template.Body.Name, ImageDigest: m.container.Digest.Value(), Variant: m.pod.Placement.Variant()}
}

func (v *View) take(groups map[observer.Key]*group) {
	variants := map[string]bool{}
	for _, g := range groups {
		v.groups = append(v.groups, g)
		variants[g.key.Variant] = true
		v.nameLabels(&g.members[0].pod.Placement.Body)
		for _, d := range g.drops() {
			if d.Terms {
				v.PlacementTermsDropped++
			} else {
				v.PlacementValuesDropped++
			}
		}
	}
	slices.SortFunc(v.groups, func(a, b *group) int { return a.key.Compare(b.key) })
	v.Records, v.Variants = len(v.groups), len(variants)
}

// nameLabels notes the node labels that a placement names. Without them a selector could not be joined to a
// machine.
func (v *View) nameLabels(p *observer.Placement) {
	for k := range p.NodeSelector {
		v.labels[k] = true
	}
	for i := range p.NodeAffinity {
		if e := &p.NodeAffinity[i]; !e.Field {
			v.labels[e.Key] = true
		}
	}
	for _, terms := range [][]observer.PodTerm{p.PodAffinity, p.PodAntiAffinity} {
		for i := range terms {
			v.labels[terms[i].TopologyKey] = true
		}
	}
	for i := range p.TopologySpread {
		v.labels[p.TopologySpread[i].TopologyKey] = true
	}
}

func (v *View) takeNodes(nodes iter.Seq[*Node]) {
	for n := range nodes {
		v.NodesValuesDropped += len(n.Drops)
		if len(n.Said.Name) > MostName {
			v.NodesValuesDropped++
			continue
		}
		v.nodes = append(v.nodes, n)
	}
	slices.SortFunc(v.nodes, func(a, b *Node) int { return strings.Compare(a.Said.Name, b.Said.Name) })
	v.Counts.Nodes = len(v.nodes)
}

// Fill writes the counts into a coverage.
func (n Counts) Fill(c *observer.Coverage) {
	c.PodsSeen, c.PodsExcluded, c.OwnersUnresolved = n.PodsSeen, n.PodsExcluded, n.OwnersUnresolved
	c.Records, c.Variants, c.Nodes, c.NamespaceOptOut = n.Records, n.Variants, n.Nodes, n.NamespaceOptOut
	c.PlacementValuesDropped, c.PlacementTermsDropped, c.NodesValuesDropped = n.PlacementValuesDropped, n.PlacementTermsDropped, n.NodesValuesDropped
}
