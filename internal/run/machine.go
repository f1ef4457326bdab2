package run

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/reason"
)

// Settings are the operator's, as far as they decide what becomes of attempts.
type Settings struct {
	NodeLost        time.Duration // how long a node may say nothing; 0: DefaultNodeLost
	ForceDeleteLost bool          // remove the object of a lost attempt without proof that it has ended
}

// DefaultNodeLost is how long a node may say nothing before its attempts count as lost.
const DefaultNodeLost = 10 * time.Minute

func (s Settings) nodeLost() time.Duration {
	if s.NodeLost > 0 {
		return s.NodeLost
	}
	return DefaultNodeLost
}

// Result is what an event comes to.
type Result struct {
	State    *State    // the same as before if nothing changed
	Commands []Command // to be carried out once the state is stored
	Done     []Command // of before; Kind, Step and Attempt say which
	Entries  []Entry   // for the event log
}

// Step is the machine: what becomes of a state when something happens. The state is not written to.
func (g *Graph) Step(s *State, e Event, set Settings, now time.Time) Result {
	m := &machine{Graph: g, settings: set, now: now, old: s, s: s}
	switch e := e.(type) {
	case Admitted:
		m.admitted()
	case Hold:
		m.hold(e)
	case Start:
		m.start(e.Step)
	case Refuse:
		m.refuse(e)
	case Reissue:
		m.reissue(e)
	case Observed:
		m.observed(e.Observation)
	case Cancel:
		m.stop(RunStop{Reason: reason.CancelledByPerson, Message: e.Message, By: e.By, At: now})
	case Tick:
		m.tick()
	}
	m.finish()
	return Result{State: m.s, Commands: m.commands, Done: m.done, Entries: m.entries}
}

// machine is one step on its way.
type machine struct {
	*Graph
	settings Settings
	now      time.Time
	old, s   *State // s is a copy of old as soon as something changes

	commands []Command
	done     []Command
	entries  []Entry
}

// own is the state, to be written to.
func (m *machine) own() *State {
	if m.s == m.old {
		c := *m.old
		c.Steps = slices.Clone(c.Steps)
		m.s = &c
	}
	return m.s
}

// step is a step, to be written to.
func (m *machine) step(i int) *Step {
	s := m.own()
	if len(m.old.Steps) > i && s.Steps[i] == m.old.Steps[i] {
		c := *s.Steps[i]
		s.Steps[i] = &c
	}
	return s.Steps[i]
}

// attempt is the last attempt of a step, to be written to.
func (m *machine) attempt(i int) *Attempt {
	s := m.step(i)
	if old := m.old.Steps[i].Attempt; s.Attempt == old {
		c := *s.Attempt
		s.Attempt = &c
	}
	return s.Attempt
}

func (m *machine) entry(e Entry) {
	e.At = m.now
	m.entries = append(m.entries, e)
}

func (m *machine) command(c Command) { m.commands = append(m.commands, c) }

// stepEntry says how a step is now.
func (m *machine) stepEntry(i int) {
	s := m.s.Steps[i]
	e := Entry{Kind: KindStep, Step: s.ID, Status: string(s.Status)}
	if s.Attempt != nil {
		e.Attempt = s.Attempt.Number
	}
	switch {
	case s.Status.Ended():
		e.Outputs = s.Outputs
		e.ended(s.Outcome)
	case s.Status == StepRunning:
		e.Node = s.Attempt.Node
	}
	if s.Waiting != nil && !s.Status.Ended() {
		e.Reason, e.Message, e.Place = s.Waiting.Reason, s.Waiting.Message, s.Waiting.Place
	}
	m.entry(e)
}

// attemptEntry says how the last attempt of a step is now.
func (m *machine) attemptEntry(i int) {
	s := m.s.Steps[i]
	a := s.Attempt
	e := Entry{Kind: KindAttempt, Step: s.ID, Attempt: a.Number, Status: string(a.Status), Node: a.Node, ID: a.ID}
	e.ended(a.Outcome)
	m.entry(e)
}

// ended says how it ended, if it has.
func (e *Entry) ended(o *Outcome) {
	if o != nil {
		e.Reason, e.Message, e.Class, e.Exit = o.Reason, o.Message, o.Class, o.ExitCode
	}
}
