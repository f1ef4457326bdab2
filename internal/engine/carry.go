package engine

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// carryOut has a command carried out that is durable.
func (l *loop) carryOut(a *active, c run.Command) {
	ref := run.Ref{Run: a.ID, Step: c.Step, Attempt: c.Attempt}
	if !l.ready {
		return // resume does, when it is known what there is
	}
	switch c.Kind {
	case run.CommandStart:
		l.create(a, ref)
	case run.CommandStop:
		l.end(a, executor.Stop{Ref: ref, ID: c.ID, Force: c.Force})
	case run.CommandCollect:
		l.collect(ref, c)
	case run.CommandFinish:
		l.finish(a)
	}
}

// create asks the executor for an attempt's object, with the fence that was taken last.
func (l *loop) create(a *active, ref run.Ref) {
	attempt, ready := l.prepared[ref]
	delete(l.prepared, ref)
	i, _ := a.graph.Index(ref.Step)
	s := a.state.Steps[i]
	if s.Attempt == nil || s.Attempt.Number != ref.Attempt || s.Attempt.Status == run.AttemptEnded || s.Attempt.Stop != nil {
		return
	}
	if !ready {
		var refused *run.Outcome
		if attempt, refused = l.prepare(a, ref.Step); refused != nil {
			// It is stopped as if the executor had refused it: the machine knows of one way to end an attempt.
			o := run.Observation{Ref: ref, Phase: run.PhaseGone, Refused: refused}
			l.inbox.put(observed{o})
			return
		}
	}
	attempt.Ref, attempt.Fence = ref, s.Attempt.Fence
	l.Executor.Start(attempt)
}

// endPatience is how long an end that Berth wants waits for the log to be followed.
const endPatience = 2 * time.Second

// end has an attempt ended. The log of one that runs is followed first, since its object goes with its container.
func (l *loop) end(a *active, s executor.Stop) {
	i, _ := a.graph.Index(s.Step)
	if at := a.state.Steps[i].Attempt; s.Force || at == nil || at.Number != s.Attempt || at.Status != run.AttemptRunning {
		l.Executor.Stop(s)
		return
	}
	l.waits.Go(func() {
		l.ending(s.Ref, s.ID)
		if l.ctx.Err() == nil {
			l.Executor.Stop(s)
		}
	})
}

// ending has a log followed to its end.
func (l *loop) ending(ref run.Ref, id string) {
	ctx, cancel := context.WithTimeout(l.ctx, endPatience)
	defer cancel()
	l.Logs.Ending(ctx, ref, l.source(ref, id, true))
}

// source opens the log of an attempt.
func (l *loop) source(ref run.Ref, id string, follow bool) Source {
	return func(ctx context.Context) (io.ReadCloser, error) { return l.Executor.Log(ctx, ref, id, follow) }
}

// mostCollecting is how many logs are read at a time, and collectPatience how long one may take: an object is
// not kept for ever because its node does not give its log.
const (
	mostCollecting  = 16
	collectPatience = time.Minute
)

// collect archives what an ended attempt leaves, and then removes its object. An API server that does not answer now may
// do so in a moment.
func (l *loop) collect(ref run.Ref, c run.Command) {
	if l.archiving[ref] {
		return
	}
	l.archiving[ref] = true
	l.waits.Go(func() {
		err := l.keep(ref, c.ID)
		for wait := time.Second; again(err) && wait < collectPatience && pause(l.ctx, wait); wait *= 2 {
			err = l.keep(ref, c.ID)
		}
		if l.ctx.Err() != nil {
			return // the next one to lead reads it again
		}
		if err != nil {
			l.Log.Warn("the log of an attempt could not be kept", "run", ref.Run, "step", ref.Step, "attempt", ref.Attempt, "error", err)
		}
		l.inbox.put(archived{ref})
	})
}

// keep archives a log, when it is its turn.
func (l *loop) keep(ref run.Ref, id string) error {
	select {
	case l.collecting <- struct{}{}:
		defer func() { <-l.collecting }()
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	ctx, cancel := context.WithTimeout(l.ctx, collectPatience)
	defer cancel()
	return l.Logs.Collect(ctx, ref, l.source(ref, id, false))
}

// again says whether a log that could not be kept may be in a moment. What took all of its time has had it.
func again(err error) bool { return err != nil && !errors.Is(err, context.DeadlineExceeded) }

// archived goes on with an object whose log is where it stays: it may be kept for a while.
func (l *loop) archived(ref run.Ref) {
	delete(l.archiving, ref)
	a := l.runs[ref.Run]
	if a == nil {
		return
	}
	c, undone := a.undone[commandKey{run.CommandCollect, ref.Step, ref.Attempt}]
	if !undone {
		return
	}
	if c.Keep && l.Kept(a.setup) {
		l.tickOff(a, c)
		return
	}
	if left := l.keepTime(c) - l.now.Sub(c.At); c.Keep && left > 0 && !l.keepNo[ref.Run] {
		l.kept[ref] = c
		time.AfterFunc(left, func() { l.inbox.put(expired{ref}) })
		return
	}
	l.remove(ref, c.ID)
}

func (l *loop) keepTime(c run.Command) time.Duration {
	if c.Class == run.Success {
		return l.operator.Kubernetes.Keep.Succeeded
	}
	return l.operator.Kubernetes.Keep.Failed
}

// expire removes an object that was kept, now that its keep time is over.
func (l *loop) expire(ref run.Ref) {
	if c, kept := l.kept[ref]; kept {
		delete(l.kept, ref)
		l.remove(ref, c.ID)
	}
}

// remove has an object removed once the batch is durable.
func (l *loop) remove(ref run.Ref, id string) {
	l.after = append(l.after, func() { l.Executor.Stop(executor.Stop{Ref: ref, ID: id}) })
}

// finish removes what the run had beside its attempts.
func (l *loop) finish(a *active) {
	id := a.ID
	if l.Kept(a.setup) {
		l.inbox.put(finished{id})
		return
	}
	l.waits.Go(func() {
		for wait := time.Second; ; wait = min(2*wait, time.Minute) {
			err := l.Executor.FinishRun(l.ctx, id)
			if err == nil {
				l.inbox.put(finished{id})
				return
			}
			l.Log.Warn("what a run had could not be removed; trying again", "run", id, "error", err)
			if !pause(l.ctx, wait) {
				return
			}
		}
	})
}

// resume goes on with what was left undone, now that it is known what there is.
func (l *loop) resume() {
	l.ready = true
	for _, a := range l.oldest(always) {
		for _, s := range a.state.Steps {
			at := s.Attempt
			if at == nil || at.Gone {
				continue
			}
			ref := run.Ref{Run: a.ID, Step: s.ID, Attempt: at.Number}
			if l.observed[ref] {
				continue
			}
			_, toStart := a.undone[commandKey{run.CommandStart, s.ID, at.Number}]
			if toStart && at.Status == run.Requested && at.Stop == nil {
				l.step(a, run.Reissue{Step: s.ID, Attempt: at.Number})
				continue
			}
			id := at.ID
			l.after = append(l.after, func() { l.Executor.Confirm(ref, id) })
		}
		for _, c := range l.ordered(a) {
			l.after = append(l.after, func() {
				if _, undone := a.undone[keyOf(c)]; undone {
					l.carryOut(a, c)
				}
			})
		}
	}
	clear(l.observed)
}
