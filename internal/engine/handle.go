package engine

import (
	"errors"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// handle takes in one message.
func (l *loop) handle(m message) {
	switch m := m.(type) {
	case observed:
		l.observe(m.Observation)
	case synced:
		l.resume()
	case fenceRequest:
		l.fence(m)
	case requests:
		l.requested(m)
	case archived:
		l.archived(m.Ref)
	case expired:
		l.expire(m.Ref)
	case finished:
		if a := l.runs[m.run]; a != nil {
			l.tickOff(a, run.Command{Kind: run.CommandFinish})
		}
	case forgotten:
		if l.runs[m.Run] == nil {
			l.Log.Warn("deleting an object of this instance that no record speaks of", "run", m.Run, "step", m.Step, "attempt", m.Attempt, "id", m.ID)
			l.remove(m.Ref, m.ID)
		}
	case settle:
		l.settle(m)
	}
}

// observe takes in an observation.
func (l *loop) observe(o run.Observation) {
	a := l.runs[o.Run]
	if a == nil {
		l.stray(o)
		return
	}
	if !l.ready && o.Phase != run.PhaseGone {
		l.observed[o.Ref] = true
	}
	i, ok := a.graph.Index(o.Step)
	if !ok || a.state.Steps[i].Attempt == nil || o.Attempt > a.state.Steps[i].Attempt.Number {
		l.forget(o)
		return
	}
	before := a.state.Steps[i].Attempt
	if len(o.Cluster) > 0 {
		c := l.changed(a)
		c.cluster = append(c.cluster, store.Cluster{Step: o.Step, Attempt: o.Attempt, Origins: o.Cluster})
	}
	l.step(a, run.Observed{Observation: o})
	now := a.state.Steps[i].Attempt
	if now.Status == run.AttemptRunning && before.Status != run.AttemptRunning && now.Number == o.Attempt {
		ref, id := o.Ref, o.ID
		l.after = append(l.after, func() { l.Logs.Started(ref, l.source(ref, id, true)) })
	}
	if now.Status == run.AttemptRunning && now.Foreign && !before.Foreign {
		ref, id := o.Ref, o.ID
		l.after = append(l.after, func() { l.waits.Go(func() { l.ending(ref, id) }) })
	}
	if o.Phase == run.PhaseGone {
		delete(l.kept, o.Ref)
		return
	}
	l.late(a, o, now)
}

// late gets rid of an object whose attempt has ended and for which no command is left: it appeared after
// that was decided.
func (l *loop) late(a *active, o run.Observation, current *run.Attempt) {
	if o.ID == "" || o.Attempt == current.Number && current.Status != run.AttemptEnded {
		return
	}
	for _, kind := range []run.CommandKind{run.CommandStart, run.CommandStop, run.CommandCollect} {
		if _, undone := a.undone[commandKey{kind, o.Step, o.Attempt}]; undone {
			return
		}
	}
	if !l.Kept(a.setup) {
		l.remove(o.Ref, o.ID)
	}
}

// stray is an object of a run that is not in memory: one that has ended, or that there never was.
func (l *loop) stray(o run.Observation) {
	if o.Phase == run.PhaseGone || o.ID == "" {
		return
	}
	d, err := l.Store.Run(l.ctx, o.Run)
	switch {
	case err == nil && d.ID == o.Run && d.Target == l.Target:
		if !l.Kept(d.Setup) {
			l.remove(o.Ref, o.ID)
		}
	case errors.Is(err, store.ErrNoRun):
		l.forget(o)
	}
}

// forget leaves an object alone that no record speaks of, for a while: what wrote the record may be behind.
func (l *loop) forget(o run.Observation) {
	if o.Phase == run.PhaseGone || o.ID == "" || l.observed[o.Ref] && l.ready {
		return
	}
	l.observed[o.Ref] = true
	time.AfterFunc(executor.ForgottenAfter, func() { l.inbox.put(forgotten{o}) })
}

// fence takes a new fence for another create.
func (l *loop) fence(m fenceRequest) {
	fence := int64(0)
	if a := l.runs[m.Run]; a != nil {
		if i, ok := a.graph.Index(m.Step); ok {
			before := a.state.Steps[i].Fence
			l.step(a, run.Reissue{Step: m.Step, Attempt: m.Attempt})
			if now := a.state.Steps[i].Fence; now != before {
				fence = now
			}
		}
	}
	l.after = append(l.after, func() { m.reply <- fence })
}

// requested takes up runs and cancellations.
func (l *loop) requested(m requests) {
	for _, id := range m.Submitted {
		if l.runs[id] != nil {
			continue
		}
		d, err := l.Store.Run(l.ctx, id)
		if err != nil || d.Target != l.Target || d.State.Status.Ended() {
			continue
		}
		if err := l.take(*d, nil); err != nil {
			l.Log.Error("a run can't be taken up", "run", id, "error", err)
		}
	}
	for _, a := range l.oldest(func(a *active) bool { _, asked := m.Cancelled[a.ID]; return asked }) {
		l.step(a, m.Cancelled[a.ID])
	}
	l.after = append(l.after, func() { close(m.taken) })
}

func (l *loop) settle(m settle) {
	a := l.runs[m.run]
	if a == nil {
		close(m.reply)
		return
	}
	l.settles[m.run] = append(l.settles[m.run], m.reply)
	l.keepNo[m.run] = true
	for _, s := range a.state.Steps {
		if s.Attempt != nil {
			l.expire(run.Ref{Run: m.run, Step: s.ID, Attempt: s.Attempt.Number})
		}
	}
}
