package kube

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Clients are what each kind of call goes through. Each has a limit of its own, so that none waits for
// another; kubeclient makes them. All are of the core group, with Codecs.
type Clients struct {
	Dispatch rest.Interface // creates pods
	Reap     rest.Interface // deletes pods
	Watch    rest.Interface // lists, watches and gets pods
	Logs     rest.Interface // reads logs
	Claims   rest.Interface // workspaces
}

// Options say where the pods are and whose. Log is optional.
type Options struct {
	Clients
	Namespace string
	Instance  string // of the store
	Log       *slog.Logger
}

// Workers: so many requests are under way at a time. A create takes the API server some 10 ms, most of which
// is waiting for its disk.
const (
	creators = 32
	reapers  = 16
)

// patience is how long a request may take. A create that got no answer by then is asked for again.
const patience = 30 * time.Second

// Executor is an executor.Executor.
type Executor struct {
	Options
	creates workqueue.TypedDelayingInterface[*attempt]
	reaps   workqueue.TypedDelayingInterface[*attempt]
	outbox  outbox

	mu       sync.Mutex // of all that follows
	runs     map[string]*runState
	breaker  breaker
	synced   bool
	reporter executor.Reporter
}

var _ executor.Executor = (*Executor)(nil)

// runState is what is known of a run.
type runState struct {
	attempts map[run.Ref]*attempt
	claim    claim
}

// New makes an Executor. It does not talk to the cluster.
func New(o Options) *Executor {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Executor{
		Options: o,
		creates: workqueue.NewTypedDelayingQueue[*attempt](),
		reaps:   workqueue.NewTypedDelayingQueue[*attempt](),
		runs:    map[string]*runState{},
	}
	e.outbox.init()
	e.breaker.release = func(a *attempt) { e.creates.Add(a) }
	e.breaker.later = func(d time.Duration) *time.Timer {
		return time.AfterFunc(d, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.breaker.fire()
		})
	}
	return e
}

// Run watches and works until the context ends.
func (e *Executor) Run(ctx context.Context, r executor.Reporter) error {
	// client-go would write to standard error what it hands on as an error as well.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	e.mu.Lock()
	e.reporter = r
	e.mu.Unlock()
	var all sync.WaitGroup
	all.Go(func() { e.outbox.deliver(ctx, &e.mu, r) })
	for range creators {
		all.Go(func() { work(e.creates, func(a *attempt) { e.create(ctx, a) }) })
	}
	for range reapers {
		all.Go(func() { work(e.reaps, func(a *attempt) { e.reap(ctx, a) }) })
	}
	err := e.watch(ctx)
	cancel()
	e.creates.ShutDown()
	e.reaps.ShutDown()
	all.Wait()
	return err
}

func work(q workqueue.TypedDelayingInterface[*attempt], do func(*attempt)) {
	for {
		a, over := q.Get()
		if over {
			return
		}
		do(a)
		q.Done(a)
	}
}

// Start asks for the attempt's pod.
func (e *Executor) Start(job executor.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.track(job.Ref)
	if a.seen.ID != "" || a.job != nil || a.gone() || a.stop != nil {
		return
	}
	a.job, a.fence = &job, job.Fence
	e.creates.Add(a)
}

// Stop ends the attempt.
func (e *Executor) Stop(s executor.Stop) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.track(s.Ref)
	switch {
	case s.ID != "" && a.seen.ID != "" && s.ID != a.seen.ID:
		e.outbox.put(e.orphan(s)) // the name is another object's by now
		return
	case a.gone():
		e.outbox.put(a)
		return
	case a.stop != nil && !s.Force && s.Grace == nil:
		return // it was asked for before
	}
	a.stop, a.asked = &s, false
	if !a.creating && a.job != nil && !a.issued {
		e.vanish(a)
		return
	}
	e.reaps.Add(a)
}

// orphan is an attempt's object that is proven gone, since another one has its name.
func (e *Executor) orphan(s executor.Stop) *attempt {
	return &attempt{ref: s.Ref, seen: run.Observation{Ref: s.Ref, ID: s.ID, Phase: run.PhaseGone}}
}

// Confirm asks how an attempt is.
func (e *Executor) Confirm(ref run.Ref, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.track(ref)
	switch {
	case a.gone(), a.seen.ID != "" && a.seen.ID == id:
		e.outbox.put(a)
	default:
		a.confirm, a.wanted = true, id
		e.reaps.Add(a)
	}
}

// track gives the attempt, known or not.
func (e *Executor) track(ref run.Ref) *attempt {
	r := e.runOf(ref.Run)
	a := r.attempts[ref]
	if a == nil {
		a = newAttempt(ref)
		r.attempts[ref] = a
	}
	return a
}

func (e *Executor) runOf(id string) *runState {
	r := e.runs[id]
	if r == nil {
		r = &runState{attempts: map[run.Ref]*attempt{}}
		e.runs[id] = r
	}
	return r
}
