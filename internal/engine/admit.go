package engine

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/pool"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// apart says which groups of steps can't have the run's workspace at the same time.
func apart(p *plan.Plan) func(a, b int) bool {
	if p.Workspace == nil {
		return nil
	}
	return p.Workspace.Excludes
}

// place has the queue know how a step is.
func (l *loop) place(a *active, s *run.Step) {
	key := pool.Key{Run: a.ID, Step: s.ID}
	switch {
	case s.Status.Active():
		l.queue.Occupy(candidate(a, s))
	case s.Status == run.StepReady && a.graph.Startable(a.state, s.ID, l.now):
		l.queue.Release(key)
		l.queue.Wait(candidate(a, s))
	default:
		l.queue.Release(key)
		l.queue.Forget(key)
	}
}

func candidate(a *active, s *run.Step) pool.Candidate {
	i, _ := a.graph.Index(s.ID)
	p := &a.plan.Steps[i]
	group := -1
	if p.WorkspaceGroup != nil {
		group = *p.WorkspaceGroup
	}
	return pool.Candidate{Key: pool.Key{Run: a.ID, Step: s.ID}, Pool: p.Pool, Priority: p.Priority, ReadyAt: s.ReadyAt, Group: group}
}

// admitRuns lets queued runs begin, the oldest first.
func (l *loop) admitRuns() {
	queued := l.oldest(func(a *active) bool { return a.state.Status == run.Queued })
	if len(queued) == 0 {
		return
	}
	most, running := l.operator.ActiveLimits.Runs, 0
	for _, a := range l.runs {
		if a.state.Status == run.Running {
			running++
		}
	}
	for i, a := range queued {
		if most == 0 || running < most {
			l.step(a, run.Admitted{})
			running++
			continue
		}
		l.step(a, run.Hold{Waiting: run.Waiting{Reason: reason.RunsLimit, Place: i + 1,
			Message: fmt.Sprintf("%d runs are active, as many as the operator's limits allow", running)}})
	}
}

// admitSteps lets package pool decide which steps start now, and says why the others wait.
func (l *loop) admitSteps() {
	if !l.ready {
		return // what runs is not known yet
	}
	decision := l.queue.Admit(l.limits)
	l.starts = append(l.starts, decision.Start...)
	for _, c := range decision.Unknown {
		l.refuse(c.Run, c.Step, run.Outcome{Class: run.Failure, Reason: reason.PoolUnknown, Final: true,
			Message: "the operator file has no pool " + c.Pool + " any more"})
	}
	for _, v := range decision.Held {
		if a := l.runs[v.Run]; a != nil {
			l.step(a, run.Hold{Step: v.Step, Waiting: run.Waiting{Reason: v.Reason, Message: v.Message, Place: v.Place}})
		}
	}
}

func (l *loop) refuse(id, step string, why run.Outcome) {
	if a := l.runs[id]; a != nil {
		l.step(a, run.Refuse{Step: step, Outcome: why})
	}
}

// start begins an attempt of a step that was admitted, or refuses the step.
func (l *loop) start(c pool.Candidate) {
	a := l.runs[c.Run]
	if a == nil || !a.graph.Startable(a.state, c.Step, l.now) {
		l.queue.Release(c.Key) // it was cancelled in between
		return
	}
	attempt, refused := l.prepare(a, c.Step)
	if refused != nil {
		l.refuse(c.Run, c.Step, *refused)
		return
	}
	l.step(a, run.Start{Step: c.Step})
	i, _ := a.graph.Index(c.Step)
	if now := a.state.Steps[i]; now.Status == run.StepStarting {
		l.prepared[run.Ref{Run: c.Run, Step: c.Step, Attempt: now.Attempt.Number}] = attempt
	}
}

// prepare reads a step's spec, and finds out what the executor needs to know beside it.
func (l *loop) prepare(a *active, step string) (executor.Attempt, *run.Outcome) {
	spec, err := l.Store.Spec(l.ctx, a.ID, step)
	if err != nil {
		return executor.Attempt{}, &run.Outcome{Class: run.Failure, Reason: reason.ExpressionFailed, Final: true,
			Message: "the plan of the step can't be read: " + err.Error()}
	}
	if a.plan.OperatorRevision != l.operator.Revision {
		if denials := spec.Permits.Check(l.operator); len(denials) > 0 {
			said := make([]string, len(denials))
			for i, d := range denials {
				said[i] = d.Message
			}
			return executor.Attempt{}, &run.Outcome{Class: run.Failure, Reason: reason.PermitWithdrawn, Final: true,
				Message: "the operator file has changed: " + strings.Join(said, "; ")}
		}
	}
	texts, refused := a.graph.Texts(a.state, spec)
	if refused != nil {
		return executor.Attempt{}, refused
	}
	return executor.Attempt{Pipeline: a.plan.Pipeline, Env: a.plan.Environment, Spec: spec, Texts: texts, Workspace: a.plan.Workspace}, nil
}
