package collect

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// Facts are all that is kept of a cluster. They may be used by several goroutines.
type Facts struct {
	mu         sync.Mutex
	pods       map[string]*reduce.Pod // by UID, as all others
	nodes      map[string]*reduce.Node
	owners     map[string]*reduce.Object
	namespaces map[string]*reduce.Object // by name
	version    uint64

	placements blocks[observer.Placement]
	containers blocks[reduce.Template]
	wholes     blocks[reduce.Whole]
}

// NewFacts gives the facts of a cluster of which nothing is known.
func NewFacts() *Facts {
	return &Facts{pods: map[string]*reduce.Pod{}, nodes: map[string]*reduce.Node{}, owners: map[string]*reduce.Object{}, namespaces: map[string]*reduce.Object{}}
}

// Version is another one whenever something has changed that could be said.
func (f *Facts) Version() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version
}

// View is what there is to say now. namespacesKnown is as in reduce.Cluster.
func (f *Facts) View(o reduce.Options, namespacesKnown bool) (*reduce.View, uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return reduce.Look(reduce.Cluster{
		Pods: maps.Values(f.pods), Nodes: maps.Values(f.nodes), NamespacesKnown: namespacesKnown,
		Owner:     func(uid string) *reduce.Object { return f.owners[uid] },
		Namespace: func(name string) *reduce.Object { return f.namespaces[name] },
	}, o), f.version
}

// ClusterID is the UID of the namespace kube-system; empty if that is not known.
func (f *Facts) ClusterID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.namespaces["kube-system"]; n != nil {
		return n.UID
	}
	return ""
}

// put keeps the fact of an object, in place of what was kept of it.
func (f *Facts) put(i *item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(i)
}

func (f *Facts) keep(i *item) {
	switch fact := i.fact.(type) {
	case *reduce.Pod:
		f.share(fact)
		if old := f.pods[fact.UID]; old != nil && samePod(old, fact) {
			return
		}
		f.pods[fact.UID] = fact
	case *reduce.Node:
		if old := f.nodes[string(i.UID)]; old != nil && reflect.DeepEqual(old, fact) {
			return
		}
		f.nodes[string(i.UID)] = fact
	case *reduce.Object:
		table, key := f.objects(fact)
		if old := table[key]; old != nil && sameObject(old, fact) {
			return
		}
		table[key] = fact
	}
	f.version++
}

// drop forgets an object.
func (f *Facts) drop(i *item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch fact := i.fact.(type) {
	case *reduce.Pod:
		delete(f.pods, fact.UID)
	case *reduce.Node:
		delete(f.nodes, string(i.UID))
	case *reduce.Object:
		table, key := f.objects(fact)
		if old := table[key]; old == nil || old.UID != fact.UID {
			return // a namespace that was made anew
		}
		delete(table, key)
	}
	f.version++
}

func (f *Facts) objects(o *reduce.Object) (table map[string]*reduce.Object, key string) {
	if o.Kind == namespaceKind {
		return f.namespaces, o.Name.Value()
	}
	return f.owners, o.UID
}

// replace keeps the facts of a whole list, and forgets what else was kept of the same watch.
func (f *Facts) replace(w watched, list []*item) {
	f.mu.Lock()
	defer f.mu.Unlock()
	listed := map[string]bool{}
	for _, i := range list {
		listed[string(i.UID)] = true
		f.keep(i)
	}
	gone := 0
	forget := func(uid string, of bool) bool {
		if of && !listed[uid] {
			gone++
			return true
		}
		return false
	}
	switch w.Resource {
	case "pods":
		maps.DeleteFunc(f.pods, func(uid string, p *reduce.Pod) bool { return forget(uid, w.has(p.Namespace.Value())) })
	case "nodes":
		maps.DeleteFunc(f.nodes, func(uid string, _ *reduce.Node) bool { return forget(uid, true) })
	case "namespaces":
		maps.DeleteFunc(f.namespaces, func(_ string, o *reduce.Object) bool { return forget(o.UID, true) })
	default:
		maps.DeleteFunc(f.owners, func(uid string, o *reduce.Object) bool {
			return forget(uid, o.Kind.Value() == w.Kind && w.has(o.Namespace.Value()))
		})
	}
	if gone > 0 {
		f.version++
	}
}

// share lets a pod have the blocks that others have.
func (f *Facts) share(p *reduce.Pod) {
	p.Placement, p.Whole = f.placements.share(p.Placement), f.wholes.share(p.Whole)
	for i := range p.Containers {
		p.Containers[i].Template = f.containers.share(p.Containers[i].Template)
	}
}

// samePod compares pods that share their blocks.
func samePod(a, b *reduce.Pod) bool {
	x, y := *a, *b
	x.Containers, y.Containers, x.Controller, y.Controller = nil, nil, nil, nil
	return reflect.DeepEqual(x, y) && slices.Equal(a.Containers, b.Containers) && sameReference(a.Controller, b.Controller)
}

func sameObject(a, b *reduce.Object) bool {
	return a.UID == b.UID && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name && a.OptedOut == b.OptedOut &&
		sameReference(a.Controller, b.Controller)
}

func sameReference(a, b *reduce.Reference) bool {
	return a == b || a != nil && b != nil && *a == *b
}
