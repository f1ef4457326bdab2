package observer

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/collect"
	"github.com/berthdev/berth/internal/observer/push"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/observer/settings"
	"github.com/berthdev/berth/internal/observer/spool"
)

// Options of an observer.
type Options struct {
	Clients  collect.Clients
	Settings *settings.File
	Version  string
	Log      *slog.Logger
	// Reload gives the settings if they have changed since it was asked last, nil if not. It is asked at each
	// beat; only what settings.File says of it is read anew.
	Reload func() (*settings.File, error)
	// Settled, if it is there, is called once, when the first payloads are written.
	Settled func()
	Paged   bool // as of collect.Options
	Now     func() time.Time
}

// Observer watches a cluster and writes what it sees.
type Observer struct {
	options   Options
	collector *collect.Collector
	spool     *spool.Spool // nil: payloads are only measured
	pusher    *push.Pusher // nil: nothing is pushed
	metrics   *metrics
	since     time.Time

	mu      sync.Mutex // holds what follows
	errors  map[string]int
	beaten  time.Time // when coverage was written last
	settled bool

	// Of the goroutine that beats.
	settings *settings.File
	version  uint64 // of the facts that were looked at last
	changed  bool   // settings
	looked   time.Time
	last     map[string]written // by kind
	counts   reduce.Counts
}

// written is what is remembered of the latest payload of a kind.
type written struct {
	at    time.Time
	bytes int
	print [32]byte // of all but the envelope
}

// New makes an observer, which does nothing until it runs.
func New(o Options) (*Observer, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := o.Settings
	made := &Observer{options: o, settings: s, since: o.Now(), errors: map[string]int{}, last: map[string]written{}, metrics: &metrics{most: s.Metrics.Workloads}}
	made.collector = collect.New(collect.Options{Clients: o.Clients, Namespaces: s.Watch.Namespaces, Bounds: reduce.Bounds{StringBytes: s.Bounds.StringBytes},
		Log: o.Log, Paged: o.Paged, Now: o.Now})
	var err error
	if s.Spool.Dir != "" {
		bounds := spool.Bounds{Age: time.Duration(s.Spool.Age), Bytes: int64(s.Spool.Bytes), Count: s.Spool.Count}
		if made.spool, err = spool.Open(s.Spool.Dir, bounds, o.Now); err != nil {
			return nil, err
		}
	}
	if s.Push.URL != "" {
		made.pusher, err = push.New(push.Options{From: made.spool, URL: s.Push.URL, TokenFile: s.Push.TokenFile, Version: o.Version, Log: o.Log,
			Failed: func() { made.failed(v1.ErrorPush) }})
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

func (o *Observer) failed(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.errors[what]++
}

// Run watches and writes until the context ends.
func (o *Observer) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { o.collector.Run(ctx) })
	if o.pusher != nil {
		all.Go(func() { o.pusher.Run(ctx) })
	}
	settled := make(chan struct{})
	all.Go(func() {
		if o.collector.Settled(ctx) == nil {
			close(settled)
		}
	})
	beat := time.NewTicker(time.Duration(o.settings.Interval.Min))
	defer beat.Stop()
	o.beat() // coverage, which says that nothing was seen yet
	for {
		select {
		case <-settled:
			settled = nil
			o.settle()
			o.beat()
			if o.options.Settled != nil {
				o.options.Settled()
			}
		case <-beat.C:
			o.beat()
		case <-ctx.Done():
			return
		}
	}
}

func (o *Observer) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settled = true
}

// Once watches until all is seen, writes each payload to out (or to the spool, if there is one), and returns. An
// error of the context says that it took too long; coverage was then written nevertheless.
func (o *Observer) Once(ctx context.Context, out io.Writer) error {
	watching, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { o.collector.Run(watching) })
	err := o.collector.Settled(ctx)
	stop()
	all.Wait()
	if o.spool != nil {
		if err == nil {
			o.settle()
		}
		o.beat()
		return err
	}
	if err == nil {
		v := o.look()
		if err := o.print(out, v); err != nil {
			return err
		}
	}
	c := o.coverage(o.options.Now())
	if failed := v1.WriteCoverage(out, c); failed != nil {
		return failed
	}
	return err
}

// Sources describes what is watched.
func (o *Observer) Sources() []v1.Source { return o.collector.Sources() }

func (o *Observer) reduceOptions() reduce.Options {
	return reduce.Options{Namespaces: o.settings.Filter(), NodeLabels: o.settings.NodeLabels}
}

func (o *Observer) coverage(now time.Time) *v1.Coverage {
	c := &v1.Coverage{Envelope: v1.NewEnvelope(v1.KindCoverage, o.collector.ClusterID(), now), Since: o.since.UTC().Truncate(time.Second),
		Version: o.options.Version, Sources: o.collector.Sources(), Bytes: map[string]int{}}
	c.Config = v1.Config{Mode: v1.ModeCluster, NamespacesAllow: len(o.settings.Namespaces.Allow), NamespacesDeny: len(o.settings.Namespaces.Deny),
		NodeLabels: len(o.settings.NodeLabels), StringBytes: o.options.Settings.Bounds.StringBytes,
		Spool: o.spool != nil, Push: o.pusher != nil, Metrics: o.options.Settings.Metrics.Listen != ""}
	if len(o.options.Settings.Watch.Namespaces) > 0 {
		c.Config.Mode = v1.ModeNamespaces
	}
	o.counts.Fill(c)
	if c.NamespaceOptOut == "" {
		c.NamespaceOptOut = v1.OptOutNotEvaluated // nothing was looked at yet
	}
	for kind, w := range o.last {
		if kind != v1.KindCoverage {
			c.Bytes[kind] = w.bytes
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c.Errors = maps.Clone(o.errors)
	return c
}
