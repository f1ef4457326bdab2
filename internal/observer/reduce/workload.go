package reduce

import observer "github.com/berthdev/berth/api/observer/v1"

// workload is the topmost controller of a pod that is known.
type workload struct {
	kind, name string
	unresolved bool // something in between could not be read
	optedOut   bool // one of the owners says so
}

// KindsWatched are the kinds of owners that are watched. Another kind that owns something is the workload, and
// whether anything owns it is not asked.
var KindsWatched = []string{"ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob"}

var watched = func() map[Name]bool {
	all := map[Name]bool{}
	for _, k := range KindsWatched {
		all[name(k)] = true
	}
	return all
}()

// mostOwners bounds a chain of owners, in case it is a ring.
const mostOwners = 8

// workloadOf goes up from the pod, as far as owners are known.
func workloadOf(p *Pod, owner func(uid string) *Object) workload {
	w := workload{kind: "Pod", name: p.Name.Value()}
	next := p.Controller
	for range mostOwners {
		if next == nil {
			return w
		}
		w.kind, w.name = next.Kind.Value(), next.Name.Value()
		if !watched[next.Kind] {
			return w
		}
		o := owner(next.UID)
		if o == nil {
			w.unresolved = true
			return w
		}
		w.optedOut = w.optedOut || o.OptedOut
		next = o.Controller
	}
	return w
}

// excluded says why a pod may not be named; "" if it may.
func excluded(p *Pod, w workload, c Cluster, f Filter) string {
	namespace := p.Namespace.Value()
	if !f.Allows(namespace) {
		return observer.ExcludedNamespaceFilter
	}
	if c.NamespacesKnown {
		n := c.Namespace(namespace)
		if n == nil {
			return observer.ExcludedNamespaceUnknown
		}
		if n.OptedOut {
			return observer.ExcludedNamespaceOptOut
		}
	}
	switch {
	case w.optedOut:
		return observer.ExcludedOwnerOptOut
	case p.OptedOut:
		return observer.ExcludedPodOptOut
	case len(namespace) > MostName || len(w.kind) > DefaultStringBytes || len(w.name) > MostName:
		return observer.ExcludedNameTooLong
	}
	for i := range p.Containers {
		if len(p.Containers[i].Template.Body.Name) > DefaultStringBytes {
			return observer.ExcludedNameTooLong
		}
	}
	return ""
}
