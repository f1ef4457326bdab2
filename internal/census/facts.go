package census

import (
	"cmp"
	"slices"

	"github.com/berthdev/berth/internal/explain"
)

// Cluster says that the objects came from an API server.
func (c *Census) Cluster() { c.cluster = true }

// Facts are what was read. A resource of which nothing was is nil, and the facts say why; the census goes on
// to be usable.
func (c *Census) Facts() *explain.Facts {
	f := c.facts
	f.Unread = slices.Clone(f.Unread)
	settle(c, &f.Pods, "pods")
	settle(c, &f.Nodes, "nodes")
	settle(c, &f.Namespaces, "namespaces")
	settle(c, &f.Claims, "persistentvolumeclaims")
	settle(c, &f.Volumes, "persistentvolumes")
	settle(c, &f.Classes, "storageclasses")
	settle(c, &f.CSINodes, "csinodes")
	settle(c, &f.CSIDrivers, "csidrivers")
	settle(c, &f.Attachments, "volumeattachments")
	settle(c, &f.Capacities, "csistoragecapacities")
	settle(c, &f.Budgets, "poddisruptionbudgets")
	settle(c, &f.RuntimeClasses, "runtimeclasses")
	if !c.cluster {
		for _, resource := range []string{"nodes", "pods", "poddisruptionbudgets"} {
			if !c.read[resource] && !slices.ContainsFunc(f.Unread, func(u explain.Unread) bool { return u.What == resource }) {
				f.Unread = append(f.Unread, explain.Unread{What: resource, Why: "there are none in the files"})
			}
		}
	}
	slices.SortStableFunc(f.Unread, func(a, b explain.Unread) int { return cmp.Compare(a.What, b.What) })
	return &f
}

// settle makes a list empty that was read, and is empty.
func settle[T any](c *Census, list *[]T, resource string) {
	if *list == nil && c.read[resource] {
		*list = []T{}
	}
}
