package collect

import (
	"cmp"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// watched is what one watch is of.
type watched struct {
	schema.GroupVersionResource
	Kind      string
	Namespace string // empty: all
}

func (w watched) has(namespace string) bool { return w.Namespace == "" || w.Namespace == namespace }

var namespaceKind = reduce.OfObject("Namespace", &metav1.ObjectMeta{}).Kind

// resources are those that are watched; the core group's pods and nodes as a whole, of all others the metadata.
var resources = []watched{
	{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod"},
	{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, Kind: "Node"},
	{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Kind: "Namespace"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, Kind: "ReplicaSet"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Kind: "Deployment"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, Kind: "StatefulSet"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}, Kind: "DaemonSet"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job"},
	{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, Kind: "CronJob"},
}

// source is the state of one watch.
type source struct {
	watched

	mu            sync.Mutex
	synced        bool
	failing       string
	since         time.Time
	interruptions int
	settled       chan struct{} // closed once it is synced, or there is no point in waiting for it
	isSettled     bool
}

func (s *source) settle() {
	if !s.isSettled {
		s.isSettled = true
		close(s.settled)
	}
}

// failed notes that the source can't be seen.
func (s *source) failed(err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == "" {
		s.since = now
		if s.synced {
			s.interruptions++
		}
	}
	s.failing = failure(err)
	switch {
	case s.failing == observer.FailingForbidden, apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		s.settle()
	case s.failing == observer.FailingRefused && now.Sub(s.since) > refusedLong:
		s.settle()
	}
}

// refusedLong is how long an API server may refuse one resource until the others are not held up any more.
const refusedLong = time.Minute

// answered notes that it can be seen.
func (s *source) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = ""
}

// listed notes that all of it was seen. If that was so before, something may have been missed since.
func (s *source) listed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced && s.failing == "" {
		s.interruptions++
	}
	s.synced, s.failing = true, ""
	s.settle()
}

func failure(err error) string {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return observer.FailingForbidden
	case apierrors.ReasonForError(err) != "":
		return observer.FailingRefused
	}
	return observer.FailingUnreachable
}

// describe sums up the watches of each resource.
func describe(all []*source) []observer.Source {
	byResource := map[string]*observer.Source{}
	for _, s := range all {
		s.mu.Lock()
		d := byResource[s.Resource]
		if d == nil {
			d = &observer.Source{Resource: s.Resource, Synced: true}
			byResource[s.Resource] = d
		}
		d.Watches++
		d.Synced = d.Synced && s.synced
		d.Interruptions += s.interruptions
		if since := s.since.UTC().Truncate(time.Second); s.failing != "" && (d.FailingSince == nil || since.Before(*d.FailingSince)) {
			d.Failing, d.FailingSince = s.failing, &since
		}
		s.mu.Unlock()
	}
	var described []observer.Source
	for _, d := range byResource {
		described = append(described, *d)
	}
	slices.SortFunc(described, func(a, b observer.Source) int { return cmp.Compare(a.Resource, b.Resource) })
	return described
}
