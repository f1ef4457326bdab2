package executortest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// patience is how long a test waits for an observation. A cluster takes its time.
const patience = 90 * time.Second

// Recorder is an executor.Reporter for tests.
type Recorder struct {
	t testing.TB

	mu      sync.Mutex
	changed chan struct{} // closed at each observation, and made anew
	seen    map[run.Ref]*history
	last    map[run.Ref]run.Observation
	fence   int64
	synced  chan struct{}
	before  int  // observations before Synced
	closed  bool // Run has returned
}

var _ executor.Reporter = (*Recorder)(nil)

// NewRecorder makes a recorder for one Run of an executor.
func NewRecorder(t testing.TB) *Recorder {
	return &Recorder{t: t, changed: make(chan struct{}), seen: map[run.Ref]*history{}, last: map[run.Ref]run.Observation{},
		fence: 1000, synced: make(chan struct{})}
}

// Observe keeps an observation, and fails the test if the protocol does not allow it here.
func (r *Recorder) Observe(o run.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.t.Errorf("observed after Run has returned: %+v", o)
		return
	}
	h := r.seen[o.Ref]
	if h == nil {
		h = &history{}
		r.seen[o.Ref] = h
	}
	for _, wrong := range h.add(o) {
		r.t.Error(wrong)
	}
	r.last[o.Ref] = o
	close(r.changed)
	r.changed = make(chan struct{})
}

// Synced notes that all that there was is observed.
func (r *Recorder) Synced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.synced:
		r.t.Error("synced twice")
	default:
		for _, h := range r.seen {
			r.before += len(h.all)
		}
		close(r.synced)
	}
}

// Fence gives fences that grow.
func (r *Recorder) Fence(ctx context.Context, _ run.Ref) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, errors.New("closed")
	}
	r.fence++
	return r.fence, ctx.Err()
}

// Close notes that Run has returned: nothing may be observed any more.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// UntilSynced waits for Synced.
func (r *Recorder) UntilSynced() {
	r.t.Helper()
	select {
	case <-r.synced:
	case <-time.After(patience):
		r.t.Fatal("never synced")
	}
}

// Until waits until the last observation of an attempt is as wanted, and gives it.
func (r *Recorder) Until(ref run.Ref, what string, wanted func(run.Observation) bool) run.Observation {
	r.t.Helper()
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		r.mu.Lock()
		o, changed := r.last[ref], r.changed
		r.mu.Unlock()
		if o.Phase != "" && wanted(o) {
			return o
		}
		select {
		case <-changed:
		case <-over.C:
			r.t.Fatalf("%v never %s; it is %+v", ref, what, o)
		}
	}
}

// UntilPhase waits until an attempt is at least so far.
func (r *Recorder) UntilPhase(ref run.Ref, phase run.Phase) run.Observation {
	r.t.Helper()
	return r.Until(ref, string(phase), func(o run.Observation) bool { return !o.Phase.Before(phase) })
}

// All gives what was observed of an attempt, in order.
func (r *Recorder) All(ref run.Ref) []run.Observation {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.seen[ref]; h != nil {
		return slices.Clone(h.all)
	}
	return nil
}

// Objects is how many objects of an attempt were observed to exist.
func (r *Recorder) Objects(ref run.Ref) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.seen[ref]; h != nil {
		return h.objects()
	}
	return 0
}
