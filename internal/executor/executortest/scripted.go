package executortest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Scripted is an executor whose attempts do as a test says. Calls that the protocol does not allow fail the
// test. After a Run's context has ended, calls come to nothing until the next Run, as if they had never left
// a process that was killed; the objects live on.
type Scripted struct {
	t   testing.TB
	lax bool // the caller is not held to the protocol: it is the suite, which tries what no engine does

	mu       sync.Mutex // of all that follows
	script   func(executor.Attempt) Behaviour
	objects  map[run.Ref]*object
	created  map[run.Ref]int
	issues   map[stepKey]issue // the last one
	stopped  map[run.Ref]bool
	ids      map[string]run.Ref // whose objects ever were
	finished map[string]int
	now      *session // nil: nobody runs it
	number   int      // of the last object
	held     bool
	echo     bool
	closed   chan struct{} // the test is over
}

var _ executor.Executor = (*Scripted)(nil)

type stepKey struct{ run, step string }

// issue is one time that an attempt's object was to be created.
type issue struct {
	run.Ref
	fence int64
	by    *session
}

func keyOf(ref run.Ref) stepKey { return stepKey{ref.Run, ref.Step} }

// NewScripted makes a Scripted, whose attempts all succeed at once.
func NewScripted(t testing.TB) *Scripted {
	s := &Scripted{t: t, script: func(executor.Attempt) Behaviour { return Behaviour{} }, objects: map[run.Ref]*object{},
		created: map[run.Ref]int{}, issues: map[stepKey]issue{}, stopped: map[run.Ref]bool{}, ids: map[string]run.Ref{},
		finished: map[string]int{}, closed: make(chan struct{})}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.closed)
	})
	return s
}

// Script says what becomes of attempts that are started from now on.
func (s *Scripted) Script(script func(executor.Attempt) Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

// Created is how many objects of an attempt ever were: more than one is never right.
func (s *Scripted) Created(ref run.Ref) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.created[ref]
}

// Total is how many objects ever were.
func (s *Scripted) Total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.number
}

// Finished is how often FinishRun was called for a run.
func (s *Scripted) Finished(run string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finished[run]
}

// Live gives the attempts that have an object, in order.
func (s *Scripted) Live() []run.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live()
}

func (s *Scripted) live() []run.Ref {
	all := slices.Collect(maps.Keys(s.objects))
	all = slices.DeleteFunc(all, func(ref run.Ref) bool { return !s.objects[ref].exists() })
	slices.SortFunc(all, func(a, b run.Ref) int {
		return strings.Compare(fmt.Sprintf("%s %s %09d", a.Run, a.Step, a.Attempt), fmt.Sprintf("%s %s %09d", b.Run, b.Step, b.Attempt))
	})
	return all
}

// Run reports what there is, and all that happens until the context ends.
func (s *Scripted) Run(ctx context.Context, r executor.Reporter) error {
	s.mu.Lock()
	if s.now != nil && s.now.ctx.Err() == nil {
		s.fail("Run was called while another Run goes on")
	}
	now := &session{ctx: ctx, reporter: r, failed: make(chan error, 1), gone: map[run.Ref]bool{}}
	s.now = now
	for ref, o := range s.objects {
		if o.seen.ID == "" { // nothing is left of what never came to be
			delete(s.objects, ref)
		}
	}
	for _, ref := range s.live() {
		s.tell(s.objects[ref].seen)
	}
	now.synced = true
	s.send(letter{synced: true})
	s.mu.Unlock()

	var err error
	select {
	case <-ctx.Done():
	case err = <-now.failed:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == now {
		s.now = nil
	}
	return err
}

// Break makes Run return an error: what trying again can't mend.
func (s *Scripted) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.failed <- err
	}
}

// Log gives what the behaviour says, and if it is followed ends when the container has.
func (s *Scripted) Log(ctx context.Context, ref run.Ref, id string, follow bool) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[ref]
	if o == nil || !o.exists() || o.seen.StartedAt.IsZero() || id != "" && id != o.seen.ID {
		return nil, executor.ErrNoLog
	}
	return &scriptedLog{Reader: strings.NewReader(o.does.Log), ctx: ctx, follow: follow, over: o.over, closed: s.closed}, nil
}

type scriptedLog struct {
	*strings.Reader
	ctx          context.Context
	follow       bool
	over, closed <-chan struct{}
}

func (l *scriptedLog) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 || err == nil || !l.follow {
		return n, err
	}
	select {
	case <-l.over:
	case <-l.closed:
	case <-l.ctx.Done():
		return 0, l.ctx.Err()
	}
	return 0, io.EOF
}

// WriteTo is not strings.Reader's, which does not wait.
func (l *scriptedLog) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{l})
}

func (l *scriptedLog) Close() error { return nil }
