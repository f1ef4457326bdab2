package run

import (
	"slices"

	"github.com/berthdev/berth/internal/reason"
)

// stop ends a run before its steps do.
func (m *machine) stop(why RunStop) {
	if m.s.Status.Ended() || m.s.Stop != nil {
		return
	}
	if why.Message == "" {
		why.Message = "the run was cancelled"
		if why.By != "" {
			why.Message += " by " + why.By
		}
	}
	s := m.own()
	s.Stop = &why
	m.entry(Entry{Kind: KindRun, Status: string(s.Status), Reason: why.Reason, Message: why.Message})
	for i := range s.Steps {
		switch status := m.s.Steps[i].Status; {
		case status.Active():
			m.stopAttempt(i, AttemptStop{Class: CancelledRun, Reason: why.Reason, Message: why.Message})
		case !status.Ended():
			m.close(i, StepCancelled, why.outcome())
		}
	}
	m.ifOver()
}

// outcome is that of a step which has no attempt when its run is stopped.
func (s *RunStop) outcome() Outcome {
	return Outcome{Class: CancelledRun, Reason: s.Reason, Message: s.Message}
}

// stopAttempt decides to end an attempt. The first decision stands, but for that of the run, which is not
// tried again.
func (m *machine) stopAttempt(i int, stop AttemptStop) {
	if have := m.s.Steps[i].Attempt.Stop; have != nil && stop.Class != CancelledRun {
		return
	}
	stop.At = m.now
	a := m.attempt(i)
	a.Stop = &stop
	m.command(Command{Kind: CommandStop, Step: m.s.Steps[i].ID, Attempt: a.Number, ID: a.ID})
}

// ifOver ends the run when all of its steps have ended.
func (m *machine) ifOver() {
	if m.s.Status.Ended() || slices.ContainsFunc(m.s.Steps, func(s *Step) bool { return !s.Status.Ended() }) {
		return
	}
	s := m.own()
	s.EndedAt = m.now
	e := Entry{Kind: KindRun}
	switch failed := m.failed(); {
	case s.Stop != nil && s.Stop.Reason == reason.CancelledByPerson:
		s.Status, e.Reason, e.Message = Cancelled, s.Stop.Reason, s.Stop.Message
	case s.Stop != nil:
		s.Status, e.Reason, e.Message = Failed, s.Stop.Reason, s.Stop.Message
	case failed != "":
		s.Status, e.Reason, e.Message = Failed, reason.StepFailed, failed
	default:
		s.Status = Succeeded
	}
	e.Status = string(s.Status)
	m.entry(e)
}

// failed names the first step that failed and may not; "" if there is none.
func (m *machine) failed() string {
	for i, s := range m.s.Steps {
		if m.spoils(m.s, i) {
			return m.plan.Steps[i].Name + " failed: " + sentence(*s.Outcome)
		}
	}
	return ""
}

// finish has what the run had beside its attempts removed, once all of their objects are gone.
func (m *machine) finish() {
	if !m.s.Status.Ended() || m.s.Finishing || m.s.Status == Rejected {
		return
	}
	if slices.ContainsFunc(m.s.Steps, func(s *Step) bool { return s.Attempt != nil && !s.Attempt.Gone }) {
		return
	}
	m.own().Finishing = true
	m.command(Command{Kind: CommandFinish})
}
