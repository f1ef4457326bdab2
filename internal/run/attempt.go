package run

import (
	"fmt"

	"github.com/berthdev/berth/internal/reason"
)

// observed takes in what an executor saw of the last attempt of a step. What was seen of an older one, or of
// another object, changes nothing.
func (m *machine) observed(o Observation) {
	i, ok := m.index[o.Step]
	if !ok {
		return
	}
	a := m.s.Steps[i].Attempt
	if a == nil || a.Number != o.Attempt || a.Gone || a.ID != "" && o.ID != "" && a.ID != o.ID {
		return
	}
	if a.Status != AttemptEnded {
		m.follow(i, o)
	}
	if o.Phase == PhaseGone {
		m.attempt(i).Gone = true
		m.gone(i)
	}
	m.ifOver()
}

// follow brings an attempt that has not ended up to what was seen.
func (m *machine) follow(i int, o Observation) {
	m.accept(i, o)
	a := m.s.Steps[i].Attempt
	if !o.DeletionAt.IsZero() && a.DeletionAt.IsZero() {
		a := m.attempt(i)
		a.DeletionAt, a.Foreign = o.DeletionAt, a.Stop == nil
	}
	m.progress(i, o)
	if !a.SilentSince.Equal(o.SilentSince) {
		m.silent(i, o)
	}
	if o.Phase == PhaseEnded || o.Phase == PhaseGone {
		if o.Phase == PhaseGone {
			m.attempt(i).Gone = true // then there is nothing to collect
		}
		m.end(i, m.verdict(i, o), o.End)
		return
	}
	m.clock(i, o)
	if o.Phase == PhaseWaiting && o.Waiting != nil && o.SilentSince.IsZero() && m.s.Steps[i].Status == StepStarting {
		w := *o.Waiting
		w.Message = blame(&m.plan.Steps[i], w.Reason, w.Message)
		m.wait(i, w)
	}
}

// silent notes that the attempt's node has stopped reporting, or that it does so again.
func (m *machine) silent(i int, o Observation) {
	a := m.attempt(i)
	a.SilentSince = o.SilentSince
	s := m.s.Steps[i]
	switch {
	case !o.SilentSince.IsZero():
		m.wait(i, Waiting{Reason: reason.NodeSilent,
			Message: fmt.Sprintf("node %s says nothing; after %s of that the attempt counts as lost", a.Node, m.settings.nodeLost())})
	case s.Waiting != nil && s.Waiting.Reason == reason.NodeSilent:
		m.step(i).Waiting = nil
		m.stepEntry(i)
	}
}

// accept notes that the attempt's object exists.
func (m *machine) accept(i int, o Observation) {
	if o.ID == "" || m.s.Steps[i].Attempt.ID != "" {
		return
	}
	a := m.attempt(i)
	a.ID, a.AcceptedAt, a.Status = o.ID, m.now, Accepted
	if o.Fence > 0 {
		a.Fence = o.Fence
	}
	m.done = append(m.done, Command{Kind: CommandStart, Step: o.Step, Attempt: o.Attempt})
	m.attemptEntry(i)
}

// progress notes the node, and that the container runs.
func (m *machine) progress(i int, o Observation) {
	a := m.s.Steps[i].Attempt
	if o.Node != "" && a.Node == "" {
		a := m.attempt(i)
		a.Node, a.ScheduledAt = o.Node, m.now
		if a.Status != AttemptRunning {
			a.Status = Scheduled
		}
		m.attemptEntry(i)
	}
	if o.StartedAt.IsZero() || !a.StartedAt.IsZero() {
		return
	}
	m.attempt(i).StartedAt = o.StartedAt
	if o.Phase != PhaseRunning {
		return // it was over before it was seen to run
	}
	m.attempt(i).Status = AttemptRunning
	s := m.step(i)
	s.Status, s.StartedAt, s.Waiting = StepRunning, o.StartedAt, nil
	m.attemptEntry(i)
	m.stepEntry(i)
}

// gone goes on with what waited for an object not to exist any more.
func (m *machine) gone(i int) {
	s := m.s.Steps[i]
	n := s.Attempt.Number
	for _, kind := range []CommandKind{CommandStart, CommandStop, CommandCollect} {
		m.done = append(m.done, Command{Kind: kind, Step: s.ID, Attempt: n})
	}
	if s.Status == StepReady && s.Waiting != nil && s.Waiting.Reason == reason.PreviousNotGone {
		m.step(i).Waiting = nil
	}
}

// end decides how an attempt has ended, and whether there is another one.
func (m *machine) end(i int, o Outcome, end *End) {
	o.Message = blame(&m.plan.Steps[i], o.Reason, o.Message)
	a := m.attempt(i)
	a.Status, a.EndedAt, a.Outcome, a.Clock = AttemptEnded, m.now, &o, NoClock
	s := m.step(i)
	s.Waiting = nil
	if end != nil {
		a.FinishedAt = end.FinishedAt
		s.Outputs = parsed(m.plan.Steps[i].Outputs, end)
	}
	m.attemptEntry(i)
	wait, again := m.again(i, o)
	if !a.Gone && o.Reason != reason.NodeLost {
		m.command(Command{Kind: CommandCollect, Step: s.ID, Attempt: a.Number, ID: a.ID, Class: o.Class, At: m.now, Keep: !again})
	}
	if again {
		m.retry(i, o, wait)
		return
	}
	status := StepFailed
	switch o.Class {
	case Success:
		status = StepSucceeded
	case CancelledRun:
		status = StepCancelled
	}
	m.close(i, status, o)
}
