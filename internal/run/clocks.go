package run

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/reason"
)

// clock notes which timeout runs while an attempt waits.
func (m *machine) clock(i int, o Observation) {
	a := m.s.Steps[i].Attempt
	c := o.Clock
	if o.Phase != PhaseWaiting {
		c = NoClock
	}
	if a.Clock != c {
		a := m.attempt(i)
		a.Clock, a.ClockSince = c, m.now
	}
}

// limit is the length of a step's clock.
func (g *Graph) limit(i int, c Clock) time.Duration {
	switch c {
	case ClockSchedule:
		return time.Duration(g.plan.Steps[i].ScheduleTimeout)
	case ClockImage:
		return time.Duration(g.plan.Steps[i].ImageTimeout)
	default:
		return ConfigTimeout
	}
}

// due is when something happens to a step if nothing else does before; zero: never.
func (g *Graph) due(s *State, i int, set Settings) time.Time {
	step := s.Steps[i]
	if step.Status == StepReady && step.Waiting != nil && step.Waiting.Reason == reason.Backoff {
		return step.NotBefore
	}
	if !step.Status.Active() {
		return time.Time{}
	}
	a := step.Attempt
	var due time.Time
	at := func(t time.Time) {
		if due.IsZero() || t.Before(due) {
			due = t
		}
	}
	if !a.SilentSince.IsZero() {
		at(a.SilentSince.Add(set.nodeLost()))
	}
	if a.Stop != nil {
		return due
	}
	if a.Clock != NoClock {
		at(a.ClockSince.Add(g.limit(i, a.Clock)))
	}
	if limit := time.Duration(g.plan.Steps[i].Timeout); step.Status == StepRunning && limit > 0 {
		at(a.StartedAt.Add(limit))
	}
	return due
}

// Deadline is the earliest time at which a Tick changes something.
func (g *Graph) Deadline(s *State, set Settings) (time.Time, bool) {
	if s.Status != Running {
		return time.Time{}, false
	}
	var first time.Time
	if limit := time.Duration(g.plan.Timeout); limit > 0 && s.Stop == nil {
		first = s.StartedAt.Add(limit)
	}
	for i := range s.Steps {
		if due := g.due(s, i, set); !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	return first, !first.IsZero()
}

// tick lets time pass.
func (m *machine) tick() {
	if m.s.Status != Running {
		return
	}
	if limit := time.Duration(m.plan.Timeout); limit > 0 && m.s.Stop == nil && !m.now.Before(m.s.StartedAt.Add(limit)) {
		m.stop(RunStop{Reason: reason.RunTimeout, Message: "the run took longer than its timeout of " + limit.String(), At: m.now})
	}
	for i := range m.s.Steps {
		if due := m.due(m.s, i, m.settings); !due.IsZero() && !m.now.Before(due) {
			m.expire(i)
		}
	}
	m.ifOver()
}

// expire does what is due for a step.
func (m *machine) expire(i int) {
	s := m.s.Steps[i]
	a := s.Attempt
	passed := func(since time.Time, limit time.Duration) bool {
		return !since.IsZero() && !m.now.Before(since.Add(limit))
	}
	switch {
	case s.Status == StepReady && a != nil && !a.Gone:
		m.wait(i, Waiting{Reason: reason.PreviousNotGone, Message: fmt.Sprintf("waits until attempt %d is proven gone", a.Number)})
	case s.Status == StepReady:
		m.step(i).Waiting = nil
	case passed(a.SilentSince, m.settings.nodeLost()):
		m.lose(i)
	case s.Status == StepRunning:
		limit := time.Duration(m.plan.Steps[i].Timeout)
		m.stopAttempt(i, AttemptStop{Class: Timeout, Reason: reason.StepTimeout, Message: "it ran longer than its timeout of " + limit.String()})
	default:
		m.giveUp(i)
	}
}

// giveUp ends an attempt that has waited for too long. Whether it never started is decided when it is gone.
func (m *machine) giveUp(i int) {
	s := m.s.Steps[i]
	limit := m.limit(i, s.Attempt.Clock)
	stop := AttemptStop{Class: NeverStarted}
	switch s.Attempt.Clock {
	case ClockSchedule:
		stop.Reason, stop.Message = reason.ScheduleTimeout, "no node took it within "+limit.String()
	case ClockImage:
		stop.Reason, stop.Message = reason.ImageTimeout, "its container had not started within "+limit.String()
	default:
		stop.Reason, stop.Message = reason.ConfigTimeout, "what its container refers to was not there within "+limit.String()
	}
	if s.Waiting != nil && s.Waiting.Message != "" {
		stop.Message += ": " + s.Waiting.Message
	}
	m.stopAttempt(i, stop)
}

// lose ends an attempt whose node says nothing. Its object may go on existing, and running.
func (m *machine) lose(i int) {
	a := m.s.Steps[i].Attempt
	out := Outcome{Class: Lost, Reason: reason.NodeLost}
	out.Message = fmt.Sprintf("the node %s has said nothing for %s", a.Node, m.settings.nodeLost())
	if a.Stop != nil {
		out.Class = a.Stop.Class
	}
	if m.settings.ForceDeleteLost {
		out.Message += "; its object is removed, and not proven gone"
	}
	m.command(Command{Kind: CommandStop, Step: m.s.Steps[i].ID, Attempt: a.Number, ID: a.ID, Force: m.settings.ForceDeleteLost})
	m.end(i, out, nil)
}
