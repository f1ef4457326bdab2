package run

import (
	"time"

	"github.com/berthdev/berth/internal/reason"
)

func (m *machine) admitted() {
	if m.s.Status != Queued {
		return
	}
	s := m.own()
	s.Status, s.StartedAt, s.Waiting = Running, m.now, nil
	m.entry(Entry{Kind: KindRun, Status: string(Running)})
	for i := range s.Steps {
		if len(m.needs[i]) == 0 {
			m.decide(i)
		}
	}
	m.ifOver()
}

// decide says what becomes of a pending step now that all that it needs has ended.
func (m *machine) decide(i int) {
	if m.s.Steps[i].Status != StepPending {
		return
	}
	if m.s.Stop != nil {
		m.close(i, StepCancelled, m.s.Stop.outcome())
		return
	}
	holds, err := m.holds(m.s, i)
	switch {
	case err != nil:
		m.close(i, StepFailed, Outcome{Class: Failure, Reason: reason.ConditionFailed, Message: err.Error(), Final: true})
	case !holds:
		m.close(i, StepSkipped, Outcome{Reason: reason.ConditionFalse, Message: m.whySkipped(i)})
	default:
		s := m.step(i)
		s.Status, s.ReadyAt, s.Waiting = StepReady, m.now, nil
		m.stepEntry(i)
	}
}

// whySkipped says which of the steps that a step needs stands against it.
func (m *machine) whySkipped(i int) string {
	for _, n := range m.needs[i] {
		if !m.passed(m.s, n) {
			return m.plan.Steps[n].Name + " has " + past(m.s.Steps[n].Status)
		}
	}
	return "its condition is false: " + m.plan.Steps[i].If
}

func past(s StepStatus) string {
	switch s {
	case StepFailed:
		return "failed"
	case StepSkipped:
		return "been skipped"
	case StepCancelled:
		return "been cancelled"
	}
	return "not succeeded"
}

// close makes a step terminal that has no live attempt, and looks at what needs it.
func (m *machine) close(i int, status StepStatus, o Outcome) {
	s := m.step(i)
	s.Status, s.EndedAt, s.Waiting, s.Outcome = status, m.now, nil, &o
	m.stepEntry(i)
	for _, d := range m.dependants[i] {
		if m.allEnded(d) {
			m.decide(d)
		}
	}
}

func (m *machine) allEnded(i int) bool {
	for _, n := range m.needs[i] {
		if !m.s.Steps[n].Status.Ended() {
			return false
		}
	}
	return true
}

// hold notes why something that could begin does not.
func (m *machine) hold(e Hold) {
	e.Waiting.Since = m.now
	if e.Step == "" {
		if m.s.Status == Queued && !sameWaiting(m.s.Waiting, &e.Waiting) {
			m.own().Waiting = &e.Waiting
			m.entry(Entry{Kind: KindRun, Status: string(Queued), Reason: e.Waiting.Reason, Message: e.Waiting.Message, Place: e.Waiting.Place})
		}
		return
	}
	if i, ok := m.index[e.Step]; ok && m.s.Steps[i].Status == StepReady {
		m.wait(i, e.Waiting)
	}
}

// wait notes why a step has not started. A reason that stays keeps the time at which it began.
func (m *machine) wait(i int, w Waiting) {
	have := m.s.Steps[i].Waiting
	switch {
	case !sameWaiting(have, &w):
		w.Since = m.now
		m.step(i).Waiting = &w
		m.stepEntry(i)
	case have.Place != w.Place:
		w.Since = have.Since
		m.step(i).Waiting = &w
	}
}

func sameWaiting(a, b *Waiting) bool {
	return a != nil && a.Reason == b.Reason && a.Message == b.Message
}

// Startable says whether a step may be given an attempt now.
func (g *Graph) Startable(s *State, id string, now time.Time) bool {
	i, ok := g.index[id]
	if !ok || s.Status != Running || s.Stop != nil {
		return false
	}
	step := s.Steps[i]
	return step.Status == StepReady && !step.NotBefore.After(now) && (step.Attempt == nil || step.Attempt.Gone)
}

func (m *machine) start(id string) {
	if !m.Startable(m.s, id, m.now) {
		return
	}
	i := m.index[id]
	s := m.step(i)
	number := 1
	if s.Attempt != nil {
		number = s.Attempt.Number + 1
	}
	s.Fence++
	s.Status, s.Outcome, s.NotBefore = StepStarting, nil, time.Time{}
	s.Waiting = &Waiting{Reason: reason.Requesting, Message: "asked for", Since: m.now}
	s.Attempt = &Attempt{Number: number, Status: Requested, Fence: s.Fence, RequestedAt: m.now}
	m.command(Command{Kind: CommandStart, Step: id, Attempt: number})
	m.attemptEntry(i)
}

// refuse fails a step that may not start.
func (m *machine) refuse(e Refuse) {
	if i, ok := m.index[e.Step]; ok && m.s.Steps[i].Status == StepReady {
		m.close(i, StepFailed, e.Outcome)
		m.ifOver()
	}
}

// reissue takes a new fence for an attempt that may not exist yet.
func (m *machine) reissue(e Reissue) {
	i, ok := m.index[e.Step]
	if !ok {
		return
	}
	a := m.s.Steps[i].Attempt
	if a == nil || a.Number != e.Attempt || a.Status != Requested || a.Stop != nil {
		return
	}
	s := m.step(i)
	s.Fence++
	m.attempt(i).Fence = s.Fence
}
