package process

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// step is what a pod needs next.
type step struct {
	start []*record
	// wake is when to look again if nothing happens before; zero if time alone changes nothing.
	wake time.Time
	// over says that the pod has ended by itself: what still runs (sidecars) is to be stopped.
	over bool
}

// next decides. Init containers run one after the other; a sidecar among them has to be started
// (its startup probe passed) before the next one. Then all main containers run. Once one of them
// has been started, the pod is initialized for good: sidecars restart beside it, and hold nothing
// back.
func next(pod *corev1.Pod, rs []*record, now time.Time) step {
	var s step
	initialized := isInitialized(rs)
	for _, r := range rs {
		switch {
		case r.init && initialized:
		case r.init:
			switch {
			case r.state == exited && r.term.ExitCode == 0:
				continue
			case r.state == exited && !r.shouldRestart(pod):
				return step{over: true}
			}
			s.want(r, now)
			return s
		case r.side:
			s.want(r, now)
			if !initialized && !(r.state == running && r.started) {
				return s
			}
		case r.state == exited && !r.shouldRestart(pod):
		default:
			s.want(r, now)
		}
	}
	for _, r := range rs {
		if !r.init && !r.side && !(r.state == exited && !r.shouldRestart(pod)) {
			return s
		}
	}
	return step{over: true}
}

// want has a container started that does not run, when its time has come.
func (s *step) want(r *record, now time.Time) {
	switch {
	case r.live() || r.never:
	case now.Before(r.next):
		if s.wake.IsZero() || r.next.Before(s.wake) {
			s.wake = r.next
		}
	default:
		s.start = append(s.start, r)
	}
}

func isInitialized(rs []*record) bool {
	for _, r := range rs {
		if !r.init && !r.side && (r.state == running || r.state == exited || r.term != nil) {
			return true
		}
	}
	return false
}
