package collect

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// Clients are what a collector asks with. They are used for list and watch, and for nothing else.
type Clients interface {
	Core() rest.Interface
	Metadata(resource schema.GroupVersionResource, namespace string) metadata.ResourceInterface
	Explain(err error) error
}

// Options of a collector. Clients have to be there.
type Options struct {
	Clients    Clients
	Namespaces []string // those that are watched, with rights in each; none: the whole cluster
	Bounds     reduce.Bounds
	Log        *slog.Logger // nothing is logged without it
	Paged      bool         // list in pages and then watch, as is done where an API server can't stream a list
	Now        func() time.Time
}

// Collector watches a cluster.
type Collector struct {
	*Facts
	options Options
	sources []*source
}

// New makes a collector, which does nothing until it runs.
func New(o Options) *Collector {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Collector{Facts: NewFacts(), options: o}
	for _, r := range resources {
		switch {
		case len(o.Namespaces) == 0 || r.Resource == "nodes":
			c.sources = append(c.sources, newSource(r))
		case r.Resource == "namespaces":
			// Rights in a namespace never include to watch it.
		default:
			for _, r.Namespace = range o.Namespaces {
				c.sources = append(c.sources, newSource(r))
			}
		}
	}
	return c
}

func newSource(w watched) *source { return &source{watched: w, settled: make(chan struct{})} }

// Run watches until the context ends.
func (c *Collector) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, s := range c.sources {
		all.Go(func() { c.watch(ctx, s) })
	}
	all.Wait()
}

// Settled waits until each source has been seen as a whole, or there is no point in waiting for it: it is
// forbidden, or refused. The error is the context's.
func (c *Collector) Settled(ctx context.Context) error {
	for _, s := range c.sources {
		select {
		case <-s.settled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Sources describes what is watched, sorted by resource.
func (c *Collector) Sources() []observer.Source { return describe(c.sources) }

// NamespacesKnown says whether namespaces can be asked whether they want to be observed.
func (c *Collector) NamespacesKnown() bool {
	for _, s := range c.sources {
		if s.Resource == "namespaces" {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.synced || s.failing != observer.FailingForbidden
		}
	}
	return false
}

// View is what there is to say now, and the version of the facts that it is of.
func (c *Collector) View(o reduce.Options) (*reduce.View, uint64) {
	return c.Facts.View(o, c.NamespacesKnown())
}
