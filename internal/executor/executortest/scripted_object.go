package executortest

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// object is what an attempt has in the cluster, or what is known of one that has none.
type object struct {
	job  executor.Attempt
	does Behaviour
	seen run.Observation
	stop chan struct{} // closed by the first Stop
	over chan struct{} // closed when its container has ended, or never will start
}

// exists says whether it is there: neither only asked for nor gone.
func (o *object) exists() bool { return o.seen.ID != "" && o.seen.Phase != run.PhaseGone }

func (o *object) stopping() bool {
	select {
	case <-o.stop:
		return true
	default:
		return false
	}
}

// start takes up an attempt. s.mu is held.
func (s *Scripted) start(job executor.Attempt) {
	o := &object{job: job, does: s.script(job), stop: make(chan struct{}), over: make(chan struct{}),
		seen: run.Observation{Ref: job.Ref, Fence: job.Fence}}
	s.objects[job.Ref] = o
	if o.does.Refused != nil {
		close(o.over)
		o.seen.Phase, o.seen.Fence, o.seen.Refused = run.PhaseGone, 0, o.does.Refused
		s.tell(o.seen)
		return
	}
	go s.play(o, s.now)
}

// play is the life of one object, which Runs come and go in. Until it exists it is only something that the
// Run asks for which it was started in, and ends with that.
func (s *Scripted) play(o *object, asker *session) {
	defer close(o.over)
	if !s.create(o, asker) {
		return
	}
	if o.does.Waits || !s.until(o, o.does.Start) {
		s.until(o, make(chan struct{}))
		s.goes(o, nil)
		return
	}
	if o.does.Ends.Class != run.NeverStarted {
		s.change(o, func(seen *run.Observation) {
			seen.Phase, seen.Waiting, seen.Clock, seen.StartedAt = run.PhaseRunning, nil, run.NoClock, time.Now()
		})
		if o.does.Runs || !s.until(o, o.does.End) {
			if s.until(o, make(chan struct{})); s.over() {
				return
			}
			end := stoppedEnd(o.does.Stopped)
			s.goes(o, &end)
			return
		}
	}
	end := ended(o.does.Ends)
	s.change(o, func(seen *run.Observation) {
		seen.Phase, seen.Waiting, seen.Clock, seen.End = run.PhaseEnded, nil, run.NoClock, &end
	})
	go func() {
		s.until(o, make(chan struct{}))
		s.goes(o, &end)
	}()
}

// ended is an end with what a test need not say.
func ended(e run.End) run.End {
	if e.Class == "" {
		e.Outcome = run.Outcome{Class: run.Success, Reason: reason.Completed, ExitCode: new(0)}
	}
	if e.Class == run.Failure && e.Message == "" && e.ExitCode != nil {
		e.Message = fmt.Sprintf("exit code %d", *e.ExitCode)
	}
	if e.Class != run.NeverStarted && e.FinishedAt.IsZero() {
		e.FinishedAt = time.Now()
	}
	return e
}

func stoppedEnd(e *run.End) run.End {
	if e == nil {
		return ended(failed(143))
	}
	return ended(*e)
}

// create asks until there is an object, and says whether there is.
func (s *Scripted) create(o *object, asker *session) bool {
	for range o.does.Issues {
		s.change(o, func(seen *run.Observation) {
			seen.Phase = run.PhaseWaiting
			seen.Waiting = &run.Waiting{Reason: reason.QuotaExceeded, Message: "the quota is used up"}
		})
		fence, err := asker.reporter.Fence(asker.ctx, o.job.Ref)
		if err != nil || asker.ctx.Err() != nil {
			return s.never(o, asker)
		}
		s.mu.Lock()
		s.issued(o.job.Ref, fence, true)
		o.seen.Fence = fence
		s.mu.Unlock()
	}
	select {
	case <-closedIfNil(o.does.Exist):
	case <-o.stop:
	case <-asker.ctx.Done():
	case <-s.closed:
	}
	s.mu.Lock()
	if o.stopping() || asker.ctx.Err() != nil || s.over() {
		s.mu.Unlock()
		return s.never(o, asker)
	}
	defer s.mu.Unlock()
	s.number++
	s.created[o.job.Ref]++
	o.seen.ID, o.seen.Node, o.seen.ScheduledAt = fmt.Sprintf("object-%d", s.number), Node, time.Now()
	o.seen.Phase, o.seen.Waiting, o.seen.Clock = run.PhaseWaiting, o.does.Waiting, o.does.Clock
	s.ids[o.seen.ID] = o.job.Ref
	s.tell(o.seen)
	return true
}

// never notes that there is no object, and will be none.
func (s *Scripted) never(o *object, asker *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() || asker.ctx.Err() != nil || s.objects[o.job.Ref] != o {
		return false
	}
	o.seen = run.Observation{Ref: o.job.Ref, Phase: run.PhaseGone}
	s.tell(o.seen)
	return false
}

// until waits for what a test says, and says whether that came before a Stop.
func (s *Scripted) until(o *object, said <-chan struct{}) bool {
	select {
	case <-o.stop:
		return false
	default:
	}
	select {
	case <-closedIfNil(said):
		return true
	case <-o.stop:
	case <-s.closed:
	}
	return false
}

// goes ends what is left of an object.
func (s *Scripted) goes(o *object, end *run.End) {
	select {
	case <-closedIfNil(o.does.Gone):
	case <-s.closed:
	}
	s.change(o, func(seen *run.Observation) {
		seen.Phase, seen.Waiting, seen.Clock = run.PhaseGone, nil, run.NoClock
		if seen.End == nil {
			seen.End = end
		}
	})
}

// change notes and reports how an object is now. What is gone does not change.
func (s *Scripted) change(o *object, to func(*run.Observation)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over() || o.seen.Phase == run.PhaseGone {
		return
	}
	to(&o.seen)
	s.tell(o.seen)
}

func (s *Scripted) over() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func closedIfNil(c <-chan struct{}) <-chan struct{} {
	if c != nil {
		return c
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}
