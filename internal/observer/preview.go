package observer

import (
	"io"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/manifest"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/observer/settings"
)

// Preview writes what would be said of a cluster that has just these objects.
func Preview(out io.Writer, objects *manifest.Objects, s *settings.File, version string, now time.Time) error {
	c := clusterOf(objects, reduce.Bounds{StringBytes: s.Bounds.StringBytes})
	v := reduce.Look(c, reduce.Options{Namespaces: s.Filter(), NodeLabels: s.NodeLabels})
	id := ""
	if system := c.Namespace("kube-system"); system != nil {
		id = system.UID
	}
	sizes := map[string]int{}
	count := &counter{to: out}
	if err := v1.WriteWorkloads(count, v1.NewEnvelope(v1.KindWorkloads, id, now), v.EachRecord()); err != nil {
		return err
	}
	sizes[v1.KindWorkloads] = count.taken()
	if err := v1.WriteNodes(count, v1.NewEnvelope(v1.KindNodes, id, now), v.EachNode()); err != nil {
		return err
	}
	sizes[v1.KindNodes] = count.taken()
	coverage := &v1.Coverage{Envelope: v1.NewEnvelope(v1.KindCoverage, id, now), Since: now.UTC().Truncate(time.Second), Version: version,
		Sources: []v1.Source{}, Bytes: sizes, Config: v1.Config{Mode: v1.ModeCluster, NamespacesAllow: len(s.Namespaces.Allow),
			NamespacesDeny: len(s.Namespaces.Deny), NodeLabels: len(s.NodeLabels), StringBytes: s.Bounds.StringBytes}}
	v.Fill(coverage)
	return v1.WriteCoverage(out, coverage)
}

// clusterOf knows what the objects say. A namespace that is not among them has nothing against being observed:
// whoever approves what leaves has to see too much rather than too little.
func clusterOf(o *manifest.Objects, bounds reduce.Bounds) reduce.Cluster {
	var pods []*reduce.Pod
	for _, p := range o.Pods {
		pods = append(pods, reduce.OfPod(p, bounds))
	}
	var nodes []*reduce.Node
	for _, n := range o.Nodes {
		nodes = append(nodes, reduce.OfNode(n, bounds))
	}
	owners, namespaces := map[string]*reduce.Object{}, map[string]*reduce.Object{}
	for _, m := range o.Metadata {
		object := reduce.OfObject(m.Kind, m)
		if m.Kind == "Namespace" {
			namespaces[m.Name] = object
		} else if object.UID != "" {
			owners[object.UID] = object
		}
	}
	known := len(namespaces) > 0
	return reduce.Cluster{
		Pods: slices.Values(pods), Nodes: slices.Values(nodes), NamespacesKnown: known,
		Owner: func(uid string) *reduce.Object { return owners[uid] },
		Namespace: func(name string) *reduce.Object {
			if n := namespaces[name]; n != nil {
				return n
			}
			return &reduce.Object{}
		},
	}
}

// counter counts what is written.
type counter struct {
	to    io.Writer
	bytes int
}

func (c *counter) Write(data []byte) (int, error) {
	n, err := c.to.Write(data)
	c.bytes += n
	return n, err
}

// taken is what was written since it was asked last.
func (c *counter) taken() int {
	n := c.bytes
	c.bytes = 0
	return n
}
