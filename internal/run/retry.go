package run

import (
	"slices"
	"strconv"
	"time"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/reason"
)

// Pauses before an attempt that follows one which never started, and the longest before any other.
const (
	firstRestart = 5 * time.Second
	mostRestart  = time.Minute
	mostBackoff  = 10 * time.Minute
)

// again says whether an attempt is followed by another one, and after what pause. Only what never started is
// tried again by itself; everything else if the step says so, since it runs the whole step again.
func (m *machine) again(i int, o Outcome) (time.Duration, bool) {
	s := m.s.Steps[i]
	if m.s.Stop != nil || o.Final {
		return 0, false
	}
	switch o.Class {
	case NeverStarted:
		return doubled(firstRestart, s.Restarts, mostRestart), s.Restarts < MostRestarts
	case Failure, OOM, Timeout, Lost:
		r := m.plan.Steps[i].Retry
		if r == nil || s.Retries >= r.Max || !slices.Contains(r.On, pipeline.RetryOn(o.Class)) {
			return 0, false
		}
		return doubled(time.Duration(r.Backoff), s.Retries, mostBackoff), true
	}
	return 0, false
}

func doubled(d time.Duration, times int, most time.Duration) time.Duration {
	for range times {
		if d >= most {
			break
		}
		d *= 2
	}
	return min(d, most)
}

// retry makes a step ready again.
func (m *machine) retry(i int, o Outcome, wait time.Duration) {
	s := m.step(i)
	if o.Class == NeverStarted {
		s.Restarts++
	} else {
		s.Retries++
	}
	s.Status, s.NotBefore, s.Outputs = StepReady, m.now.Add(wait), nil
	s.Waiting = &Waiting{Reason: reason.Backoff, Since: m.now,
		Message: "tries again in " + wait.Round(time.Second).String() + ", since attempt " + itoa(s.Attempt.Number) + " ended: " + sentence(o)}
	m.stepEntry(i)
}

func sentence(o Outcome) string {
	if o.Message != "" {
		return o.Message
	}
	r, _ := reason.Of(o.Reason)
	return r.Title
}

func itoa(n int) string { return strconv.Itoa(n) }
