package local

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// How long processes have after SIGTERM: a step that is stopped, as in a pod; one that is stopped since berth
// ends; and services, when their step has ended.
const (
	defaultGrace = 30 * time.Second
	leaveGrace   = 2 * time.Second
	serviceGrace = 10 * time.Second
)

// linger is how long an attempt that was stopped stays after its end, unless it is stopped once more: its log
// may be being read, and how it came to be stopped is often in there.
const linger = 5 * time.Second

// Why an attempt is asked to end.
var (
	errStopped = errors.New("it was stopped")
	errLeaving = errors.New("the berth that had started it ended, and its processes with it")
)

// attempt is one that this machine has, or had. Executor.mu guards what changes of it.
type attempt struct {
	job  executor.Attempt
	seen run.Observation
	over chan struct{} // closed when no process of it is left; nil: there never was one, or a former berth had it

	asked    context.Context // ends when its processes are to end: SIGTERM
	ask      context.CancelCauseFunc
	forced   context.Context // ends when their grace is over: SIGKILL
	force    context.CancelFunc
	grace    *time.Timer // calls force
	graceEnd time.Time

	stopped  bool // somebody called Stop while it ran
	removing bool
}

func newAttempt(job executor.Attempt) *attempt {
	a := &attempt{job: job}
	a.asked, a.ask = context.WithCancelCause(context.Background())
	a.forced, a.force = context.WithCancel(context.Background())
	return a
}

// halt asks the attempt's processes to end. Asked again, the shorter grace counts, and the first reason.
func (a *attempt) halt(grace time.Duration, why error) {
	a.ask(why)
	end := time.Now().Add(grace)
	switch {
	case a.grace == nil:
		a.grace = time.AfterFunc(grace, a.force)
	case end.Before(a.graceEnd):
		a.grace.Reset(grace)
	default:
		return
	}
	a.graceEnd = end
}

// end lets go of what an attempt that is over needs no more.
func (a *attempt) end() {
	a.ask(nil)
	a.force()
	if a.grace != nil {
		a.grace.Stop()
	}
}
