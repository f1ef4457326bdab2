package executortest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// The fake does what every executor does.
func TestScripted(t *testing.T) {
	var all sync.Map
	Run(t, Harness{
		Fresh: func(t *testing.T) Open {
			s := NewScripted(t)
			s.lax = true
			s.Script(func(a executor.Attempt) Behaviour {
				b, _ := all.Load(a.Ref)
				return b.(Behaviour)
			})
			return func() executor.Executor { return s }
		},
		Survives: true,
		Behave:   func(ref run.Ref, b Behaviour) { all.Store(ref, b) },
	})
}

// complaints collects what a fake has to say of its caller.
type complaints struct {
	testing.TB
	mu   sync.Mutex
	said []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func attempt(step string, number int, fence int64) executor.Attempt {
	return executor.Attempt{Ref: run.Ref{Run: "r", Step: step, Attempt: number}, Fence: fence, Spec: &plan.Step{ID: step}}
}

// The fake tells of each call that the protocol does not allow, and of no other.
func TestCaller(t *testing.T) {
	never := make(chan struct{})
	ends := func(f *fixture, a executor.Attempt) run.Observation {
		f.Start(a)
		return f.UntilPhase(a.Ref, run.PhaseEnded)
	}
	for name, test := range map[string]struct {
		call func(f *fixture, s *Scripted)
		want string
	}{
		"as it should be": {func(f *fixture, s *Scripted) {
			a := attempt("s", 1, 1)
			f.Start(a)
			o := ends(f, a)
			f.goes(a.Ref, executor.Stop{ID: o.ID})
			b := attempt("s", 2, 2)
			o = ends(f, b)
			f.restart()
			f.Confirm(b.Ref, o.ID)
			f.goes(b.Ref, executor.Stop{ID: o.ID})
			if err := f.FinishRun(f.t.Context(), "r"); err != nil || s.Finished("r") != 1 || s.Total() != 2 || s.Created(a.Ref) != 1 {
				f.t.Error(err, s.Total())
			}
		}, ""},
		"no spec": {func(f *fixture, s *Scripted) {
			f.Start(executor.Attempt{Ref: run.Ref{Run: "r", Step: "s", Attempt: 1}, Fence: 1})
		}, "its spec is not"},
		"no attempt":   {func(f *fixture, s *Scripted) { f.Start(attempt("s", 0, 1)) }, "its ref is not"},
		"no fence":     {func(f *fixture, s *Scripted) { f.Start(attempt("s", 1, 0)) }, "fence 0"},
		"fence shrank": {func(f *fixture, s *Scripted) { f.Start(attempt("s", 1, 2)); f.Start(attempt("s", 1, 1)) }, "fence 1"},
		"fence of the attempt before": {func(f *fixture, s *Scripted) {
			o := ends(f, attempt("s", 1, 1))
			f.goes(o.Ref, executor.Stop{})
			f.Start(attempt("s", 2, 1))
		}, "fence 1"},
		"fence of the Run before": {func(f *fixture, s *Scripted) {
			s.Script(func(executor.Attempt) Behaviour { return Behaviour{Exist: never} })
			f.Start(attempt("s", 1, 1))
			f.restart()
			f.Start(attempt("s", 1, 1))
		}, "fence 1"},
		"text that is late": {func(f *fixture, s *Scripted) {
			a := attempt("s", 1, 1)
			a.Spec.Work.Args = []plan.Text{{Text: "${{ x }}", Late: true}}
			f.Start(a)
		}, "nobody has evaluated ${{ x }}"},
		"two attempts of a step": {func(f *fixture, s *Scripted) {
			ends(f, attempt("s", 1, 1))
			f.Start(attempt("s", 2, 2))
		}, "attempt 1 is not gone"},
		"start after stop": {func(f *fixture, s *Scripted) {
			f.goes(attempt("s", 1, 1).Ref, executor.Stop{})
			f.Start(attempt("s", 1, 1))
		}, "it was stopped"},
		"start of what is gone": {func(f *fixture, s *Scripted) {
			s.Script(func(executor.Attempt) Behaviour {
				return Behaviour{Refused: &run.Outcome{Class: run.NeverStarted, Reason: reason.PodInvalid}}
			})
			f.Start(attempt("s", 1, 1))
			f.UntilPhase(attempt("s", 1, 1).Ref, run.PhaseGone)
			f.Start(attempt("s", 1, 2))
		}, "observed to be gone"},
		"stop of another object": {func(f *fixture, s *Scripted) {
			ends(f, attempt("s", 1, 1))
			f.Stop(executor.Stop{Ref: attempt("s", 1, 1).Ref, ID: "x"})
		}, `never was "x"`},
		"finish too early": {func(f *fixture, s *Scripted) {
			ends(f, attempt("s", 1, 1))
			_ = f.FinishRun(f.t.Context(), "r")
		}, "is not gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := &complaints{TB: t}
			s := NewScripted(said)
			f := newFixture(t, &Harness{Fresh: func(*testing.T) Open { return func() executor.Executor { return s } }})
			test.call(f, s)
			said.mu.Lock()
			defer said.mu.Unlock()
			all := strings.Join(said.said, "\n")
			if test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, all)
			}
		})
	}
}

// Objects outlive a Run; what was only asked for does not, and is not made behind anyone's back.
func TestCrash(t *testing.T) {
	s := NewScripted(t)
	end, exist := make(chan struct{}), make(chan struct{})
	s.Script(func(a executor.Attempt) Behaviour {
		if a.Step == "asked" {
			return Behaviour{Exist: exist}
		}
		return Behaviour{End: end}
	})
	f := newFixture(t, &Harness{Fresh: func(*testing.T) Open { return func() executor.Executor { return s } }})
	runs, asked, lost := attempt("runs", 1, 1), attempt("asked", 1, 1), attempt("lost", 1, 1)
	f.Start(runs)
	f.Start(asked)
	f.UntilPhase(runs.Ref, run.PhaseRunning)
	f.stop()
	f.Start(lost) // nobody hears it
	close(exist)
	close(end)
	f.begin()
	f.UntilPhase(runs.Ref, run.PhaseEnded)
	if live := s.Live(); len(live) != 1 || live[0] != runs.Ref || s.Total() != 1 {
		t.Errorf("%v", live)
	}
	if all := append(f.All(asked.Ref), f.All(lost.Ref)...); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	asked.Fence = 2
	f.Start(asked)
	f.UntilPhase(asked.Ref, run.PhaseEnded)
}

// Nothing but Run is called before Synced was delivered.
func TestBeforeSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &complaints{TB: t}
		s := NewScripted(said)
		s.Hold()
		over := make(chan error)
		failed := errors.New("no permission")
		r := NewRecorder(t)
		go func() { over <- s.Run(t.Context(), r) }()
		synctest.Wait()
		s.Confirm(attempt("s", 1, 1).Ref, "")
		if len(said.said) != 1 || !strings.Contains(said.said[0], "before Synced") {
			t.Errorf("%q", said.said)
		}
		s.Release(nil)
		s.Confirm(attempt("s", 1, 1).Ref, "")
		if len(said.said) != 1 {
			t.Errorf("%q", said.said)
		}
		s.Break(failed)
		if err := <-over; err != failed {
			t.Error(err)
		}
	})
}

// What is held back comes in another order, and that of each object stays.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScripted(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := NewRecorder(t)
		go s.Run(ctx, r)
		synctest.Wait()
		s.Hold()
		var refs []run.Ref
		for i := range 20 {
			a := attempt(fmt.Sprintf("s%d", i), 1, 1)
			refs = append(refs, a.Ref)
			s.Start(a)
		}
		synctest.Wait()
		for _, ref := range refs {
			if len(r.All(ref)) > 0 {
				t.Fatal("it was not held back")
			}
		}
		s.Release(rand.New(rand.NewPCG(1, 2)))
		for _, ref := range refs {
			if all := r.All(ref); len(all) != 3 || all[2].Phase != run.PhaseEnded {
				t.Errorf("%+v", all)
			}
		}
	})
}

// What was held back when a Run ended is lost with it, and said anew by the next.
func TestHeldIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScripted(t)
		first, second := NewRecorder(t), NewRecorder(t)
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx, first)
		synctest.Wait()
		s.Hold()
		a := attempt("s", 1, 1)
		s.Start(a)
		synctest.Wait()
		cancel()
		synctest.Wait()
		s.Release(nil)
		again, over := context.WithCancel(t.Context())
		defer over()
		go s.Run(again, second)
		synctest.Wait()
		if all := second.All(a.Ref); len(first.All(a.Ref)) > 0 || len(all) != 1 || all[0].Phase != run.PhaseEnded {
			t.Errorf("%+v, then %+v", first.All(a.Ref), all)
		}
	})
}

// With echoes, what was observed first comes again, also when it has long been otherwise.
func TestEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScripted(t)
		s.Echo(true)
		var phases []run.Phase
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Run(ctx, reporter(func(o run.Observation) { phases = append(phases, o.Phase) }))
		synctest.Wait()
		s.Start(attempt("s", 1, 1))
		synctest.Wait()
		if got := fmt.Sprint(phases); got != "[waiting running waiting ended waiting]" {
			t.Error(got)
		}
	})
}

type reporter func(run.Observation)

func (r reporter) Observe(o run.Observation)                     { r(o) }
func (r reporter) Synced()                                       {}
func (r reporter) Fence(context.Context, run.Ref) (int64, error) { return 0, errors.New("none") }

// Creates that come to nothing each take a fence, until there is none to be had.
func TestIssues(t *testing.T) {
	s := NewScripted(t)
	s.Script(func(executor.Attempt) Behaviour { return Behaviour{Issues: 2} })
	f := newFixture(t, &Harness{Fresh: func(*testing.T) Open { return func() executor.Executor { return s } }})
	a := attempt("s", 1, 1)
	f.Start(a)
	if o := f.UntilPhase(a.Ref, run.PhaseEnded); o.Fence != 1002 || s.Created(a.Ref) != 1 {
		t.Errorf("%+v", o)
	}
}
