package engine

import (
	"reflect"
	"time"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// active is a run in memory.
type active struct {
	store.Record
	setup    Setup
	plan     *plan.Plan // slim
	graph    *run.Graph
	state    *run.State
	undone   map[commandKey]run.Command
	deadline time.Time // when the machine wants a tick; zero: never

	change *change // since the last commit; nil: nothing
}

// commandKey identifies a command of a run.
type commandKey struct {
	kind    run.CommandKind
	step    string
	attempt int
}

func keyOf(c run.Command) commandKey { return commandKey{c.Kind, c.Step, c.Attempt} }

// change is what has happened to a run since the last commit.
type change struct {
	before  *run.State
	entries []run.Entry
	started []run.Command
	done    []run.Command
	cluster []store.Cluster
}

// changed gives the run's change to add to.
func (l *loop) changed(a *active) *change {
	if a.change == nil {
		a.change = &change{before: a.state}
		l.dirty = append(l.dirty, a)
	}
	return a.change
}

// step lets an event happen to a run.
func (l *loop) step(a *active, e run.Event) {
	result := a.graph.Step(a.state, e, l.settings(), l.now)
	if result.State == a.state && len(result.Commands)+len(result.Done) == 0 {
		return
	}
	c := l.changed(a)
	c.entries = append(c.entries, result.Entries...)
	for _, d := range result.Done {
		l.tickOff(a, d)
	}
	for _, started := range result.Commands {
		if have, twice := a.undone[keyOf(started)]; !twice || have != started {
			c.started = append(c.started, started)
		}
		a.undone[keyOf(started)] = started
	}
	before := a.state
	a.state = result.State
	for _, s := range run.Changed(before, a.state) {
		l.place(a, s)
	}
}

// tickOff notes that a command is done.
func (l *loop) tickOff(a *active, done run.Command) {
	key := keyOf(done)
	if _, known := a.undone[key]; !known {
		return
	}
	delete(a.undone, key)
	c := l.changed(a)
	c.done = append(c.done, done)
}

// transition is what a run's change is to the store.
func (a *active) transition() store.Transition {
	c := a.change
	t := store.Transition{Run: a.ID, Steps: run.Changed(c.before, a.state), Entries: c.entries, Done: c.done, Cluster: c.cluster}
	for _, started := range c.started { // what was done within one batch never was
		if _, undone := a.undone[keyOf(started)]; undone {
			t.Started = append(t.Started, a.undone[keyOf(started)])
		}
	}
	if differs(c.before, a.state) {
		t.State = a.state
	}
	return t
}

// differs says whether anything of the runs themselves differs, their steps apart.
func differs(a, b *run.State) bool {
	x, y := *a, *b
	x.Steps, y.Steps = nil, nil
	return !reflect.DeepEqual(x, y)
}
