package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/pool"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// mostMessages is how many messages one transaction takes up, and mostStarts how many steps it starts: the
// first creates of a large run should not wait for the last one to be written.
const (
	mostMessages = 512
	mostStarts   = 64
)

// loop has all state. Nothing of it is touched by another goroutine.
type loop struct {
	*Engine
	ctx  context.Context
	last string    // the newest run that was taken up
	now  time.Time // of the batch

	runs     map[string]*active
	queue    *pool.Queue
	starts   []pool.Candidate // admitted, and not started yet
	limits   pool.Limits
	operator *profile.File // in force in this batch

	dirty   []*active // have a change
	after   []func()  // once the batch is durable
	settles map[string][]chan<- struct{}
	keepNo  map[string]bool // runs whose keep times are over at once

	ready      bool                         // the executor is synced
	prepared   map[run.Ref]executor.Attempt // to be created when the batch is durable
	observed   map[run.Ref]bool             // attempts whose objects there are, until ready; then those that are forgotten
	kept       map[run.Ref]run.Command      // archived, and kept for a while
	archiving  map[run.Ref]bool
	collecting chan struct{} // one for each log that is being read

	timer *time.Timer
	waits sync.WaitGroup // goroutines that the loop has started
}

// load takes up the runs that the store has.
func (e *Engine) load(ctx context.Context) (*loop, error) {
	l := &loop{Engine: e, ctx: ctx, now: e.Now(), runs: map[string]*active{}, queue: pool.NewQueue(), settles: map[string][]chan<- struct{}{},
		keepNo: map[string]bool{}, observed: map[run.Ref]bool{}, kept: map[run.Ref]run.Command{}, archiving: map[run.Ref]bool{},
		prepared: map[run.Ref]executor.Attempt{}, collecting: make(chan struct{}, mostCollecting),
		timer: time.NewTimer(time.Hour)}
	l.read()
	all, err := e.Store.Load(ctx, e.Target)
	if err != nil {
		return nil, err
	}
	for _, stored := range all {
		if err := l.take(stored.Detail, stored.Commands); err != nil {
			e.Log.Error("a run can't be taken up", "run", stored.ID, "error", err)
		}
	}
	return l, nil
}

// take has a run in memory from now on.
func (l *loop) take(d store.Detail, undone []run.Command) error {
	if d.ID > l.last {
		l.last = d.ID
	}
	graph, err := run.NewGraph(d.Plan)
	if err != nil {
		return fmt.Errorf("run %s: %w", d.ID, err)
	}
	a := &active{Record: d.Record, setup: d.Setup, plan: d.Plan, graph: graph, state: d.State, undone: map[commandKey]run.Command{}}
	for _, c := range undone {
		a.undone[keyOf(c)] = c
	}
	l.runs[d.ID] = a
	l.queue.AddRun(d.ID, d.Plan.Pipeline, d.Plan.MaxActiveSteps, apart(d.Plan))
	for _, s := range d.State.Steps {
		l.place(a, s)
	}
	a.deadline, _ = graph.Deadline(a.state, l.settings())
	return nil
}

// work is the loop's life.
func (l *loop) work(ctx context.Context) error {
	defer l.timer.Stop()
	for {
		if !l.gather(ctx) {
			return nil
		}
		l.turn()
		if err := l.commit(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		l.rest()
	}
}

// gather takes in what there is, and waits if there is nothing to do.
func (l *loop) gather(ctx context.Context) bool {
	if len(l.starts) == 0 {
		select {
		case <-l.inbox.wake:
		case <-l.timer.C:
		case <-ctx.Done():
			return false
		}
	}
	l.now = l.Now()
	l.read()
	l.ticks()
	for _, m := range l.inbox.take(mostMessages) {
		l.handle(m)
	}
	return ctx.Err() == nil
}

// read looks at the operator file in force, which is another value when it has changed.
func (l *loop) read() {
	operator := l.Operator()
	if operator == l.operator {
		return
	}
	l.operator = operator
	l.limits = pool.Limits{ActiveSteps: l.operator.ActiveLimits.Steps, Pools: map[string]int{}}
	for _, p := range l.operator.Pools {
		l.limits.Pools[p.Name] = p.Slots
	}
}

func (l *loop) settings() run.Settings {
	k := l.operator.Kubernetes
	return run.Settings{NodeLost: k.NodeLostTimeout, ForceDeleteLost: k.ForceDeleteLost}
}

// ticks lets time pass for the runs that want it.
func (l *loop) ticks() {
	due := func(a *active) bool { return !a.deadline.IsZero() && !a.deadline.After(l.now) }
	for _, a := range l.oldest(due) {
		l.step(a, run.Tick{})
		for _, s := range a.state.Steps { // a pause before a retry may be over
			if s.Status == run.StepReady {
				l.place(a, s)
			}
		}
		l.changed(a) // its deadline is another one now, whatever else is
	}
}

// turn lets what is ready begin.
func (l *loop) turn() {
	l.admitRuns()
	l.admitSteps()
	for n := 0; n < mostStarts && len(l.starts) > 0; n++ {
		c := l.starts[0]
		l.starts = l.starts[1:]
		l.start(c)
	}
	for _, a := range l.dirty {
		a.deadline, _ = a.graph.Deadline(a.state, l.settings())
	}
}

// commit makes the batch durable, and then lets out what waited for that.
func (l *loop) commit(ctx context.Context) error {
	var all []store.Transition
	for _, a := range l.dirty {
		t := a.transition()
		if t.State != nil || len(t.Steps)+len(t.Entries)+len(t.Started)+len(t.Done)+len(t.Cluster) > 0 {
			all = append(all, t)
		}
	}
	for len(all) > 0 {
		err := l.Store.Commit(ctx, l.epoch, all)
		if err == nil {
			break
		}
		if errors.Is(err, store.ErrDeposed) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		l.Log.Error("the store can't be written: nothing goes on until it can", "error", err)
		if !pause(ctx, time.Second) {
			return nil
		}
	}
	dirty, after := l.dirty, l.after
	l.dirty, l.after = nil, nil
	for _, a := range dirty {
		c := a.change
		a.change = nil
		for _, started := range c.started {
			if current, undone := a.undone[keyOf(started)]; undone {
				l.carryOut(a, current)
			}
		}
		l.done(a)
	}
	for _, do := range after {
		do()
	}
	return nil
}

// done forgets a run with which nothing is left to do.
func (l *loop) done(a *active) {
	if !a.state.Status.Ended() || len(a.undone) > 0 {
		return
	}
	delete(l.runs, a.ID)
	l.queue.RemoveRun(a.ID)
	l.answer(a.ID)
}

// answer tells those who wait that nothing is left to do for a run.
func (l *loop) answer(id string) {
	for _, reply := range l.settles[id] {
		close(reply)
	}
	delete(l.settles, id)
	delete(l.keepNo, id)
}

// rest sets the timer for the next deadline.
func (l *loop) rest() {
	next := l.now.Add(time.Hour)
	for _, a := range l.runs {
		if !a.deadline.IsZero() && a.deadline.Before(next) {
			next = a.deadline
		}
	}
	l.timer.Reset(max(0, next.Sub(l.Now())))
}

// oldest gives the runs that are so, in the order of their age.
func (l *loop) oldest(so func(*active) bool) []*active {
	var all []*active
	for _, a := range l.runs {
		if so(a) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *active) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func always(*active) bool { return true }

// ordered gives what is undone of a run, always in the same order.
func (l *loop) ordered(a *active) []run.Command {
	all := make([]run.Command, 0, len(a.undone))
	for _, c := range a.undone {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b run.Command) int {
		return cmp.Or(strings.Compare(a.Step, b.Step), cmp.Compare(a.Attempt, b.Attempt), strings.Compare(string(a.Kind), string(b.Kind)))
	})
	return all
}
