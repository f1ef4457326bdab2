package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/executortest"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/sqlite"
)

// rig is an engine with a real store and a scripted executor, which outlive it.
type rig struct {
	*testing.T
	*executortest.Scripted
	path     string
	operator *profile.File
	logs     Logs
	store    *sqlite.Store
	stop     func()
}

const target = "scripted"

func newRig(t *testing.T) *rig {
	return &rig{T: t, Scripted: executortest.NewScripted(t), path: filepath.Join(t.TempDir(), "berth.db"), operator: profile.Empty(), logs: noLogs{}}
}

// noLogs keeps nothing, and reads what there is.
type noLogs struct{}

func (noLogs) Started(run.Ref, Source) {}

func (noLogs) Ending(context.Context, run.Ref, Source) {}

func (noLogs) Collect(ctx context.Context, _ run.Ref, read Source) error {
	r, err := read(ctx)
	if err != nil {
		return nil
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}

// begin starts an engine on what the one before has left.
func (r *rig) begin() {
	r.Helper()
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: r.path})
	if err != nil {
		r.Fatal(err)
	}
	e, err := New(context.Background(), Options{Store: s, Executor: r.Scripted, Target: target, Logs: r.logs, Operator: func() *profile.File { return r.operator }, Holder: "test"})
	if err != nil {
		r.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	r.store = s
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-over; err != nil {
			r.Error(err)
		}
		s.Close()
	}
	r.Cleanup(r.stop)
}

// submit records a run of a pipeline.
func (r *rig) submit(id, text string) {
	r.Helper()
	file, findings := pipeline.Parse("p.yaml", []byte("version: 1\nname: p\ndefaults: {image: i}\n"+text), pipeline.Options{})
	if file == nil {
		r.Fatal(findings.Text(nil))
	}
	out := plan.Make(file, r.operator, pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		r.Fatal(out.Findings.Text(nil))
	}
	state, entries := run.New(out.Plan, id, time.Now())
	if err := r.store.Submit(context.Background(), store.Submission{ID: id, Target: target, Plan: out.Plan, State: state, Entries: entries}); err != nil {
		r.Fatal(err)
	}
}

// until reads the run's events until one says so, and gives the run.
func (r *rig) until(id string, says func(store.Event) bool) *store.Detail {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for after := int64(0); ; {
		if err := r.store.Wait(ctx, id, after); err != nil {
			d, _ := r.store.Run(context.Background(), id)
			for _, s := range d.State.Steps {
				r.Logf("%s %s %+v %+v", s.ID, s.Status, s.Waiting, s.Attempt)
			}
			r.Fatal(err)
		}
		events, err := r.store.Events(ctx, id, after, 100)
		if err != nil {
			r.Fatal(err)
		}
		for _, e := range events {
			if after = e.Number; says(e) {
				d, err := r.store.Run(ctx, id)
				if err != nil {
					r.Fatal(err)
				}
				return d
			}
		}
	}
}

func ended(e store.Event) bool { return e.Kind == run.KindRun && run.Status(e.Status).Ended() }

func (r *rig) statuses(d *store.Detail) string {
	var all []string
	for _, s := range d.State.Steps {
		all = append(all, s.ID+" "+string(s.Status))
	}
	return strings.Join(all, ", ")
}

func TestOutputsReachWhatNeedsThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Script(func(a executor.Attempt) executortest.Behaviour {
		if a.Step == "one" {
			return executortest.Behaviour{Ends: run.End{Output: "o=hello\n"}}
		}
		if a.Texts["echo ${{ steps.one.outputs.o }}"] != "echo hello" {
			t.Errorf("texts %v", a.Texts)
		}
		return executortest.Behaviour{}
	})
	r.begin()
	r.submit("R1", "steps:\n- {name: one, run: x, outputs: [o]}\n- {name: two, needs: [one], run: \"echo ${{ steps.one.outputs.o }}\"}\n")
	if d := r.until("R1", ended); d.Status != run.Succeeded {
		t.Error(r.statuses(d))
	}
}

func TestRetriesAndSkips(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := 1
	r.Script(func(a executor.Attempt) executortest.Behaviour {
		if a.Step == "flaky" && a.Attempt == 1 || a.Step == "bad" {
			return executortest.Behaviour{Ends: run.End{Outcome: run.Outcome{Class: run.Failure, Reason: reason.ExitCode, ExitCode: &one}}}
		}
		return executortest.Behaviour{}
	})
	r.begin()
	r.submit("R1", `steps:
- {name: flaky, run: x, retry: {max: 1, on: [failure], backoff: 10ms}}
- {name: bad, run: x}
- {name: after, needs: [bad], run: x}
- {name: always, needs: [bad], if: always(), run: x}
`)
	d := r.until("R1", ended)
	if got := r.statuses(d); d.Status != run.Failed || got != "flaky succeeded, bad failed, after skipped, always succeeded" {
		t.Errorf("%s: %s", d.Status, got)
	}
	if n := r.Created(run.Ref{Run: "R1", Step: "flaky", Attempt: 2}); n != 1 {
		t.Errorf("%d second attempts", n)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.Script(func(a executor.Attempt) executortest.Behaviour { return executortest.Behaviour{Runs: true} })
	r.begin()
	r.submit("R1", "steps:\n- {name: one, run: x}\n- {name: two, needs: [one], run: x}\n")
	r.until("R1", func(e store.Event) bool { return e.Step == "one" && e.Status == string(run.StepRunning) })
	if err := r.store.Cancel(context.Background(), "R1", run.Cancel{By: "someone"}); err != nil {
		t.Fatal(err)
	}
	d := r.until("R1", ended)
	if got := r.statuses(d); d.Status != run.Cancelled || got != "one cancelled, two cancelled" || !strings.Contains(d.State.Stop.Message, "someone") {
		t.Errorf("%s: %s", d.Status, got)
	}
}

func TestPermitIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	load := func(text string) *profile.File {
		f, findings := profile.Load("o.yaml", []byte(text))
		if f == nil {
			t.Fatal(findings.Text(nil))
		}
		return f
	}
	r.operator = load("version: 1\nenvironments: [{name: prod, permits: {secrets: [token]}}]\n")
	r.begin()
	gate := make(chan struct{})
	r.Script(func(a executor.Attempt) executortest.Behaviour { return executortest.Behaviour{End: gate} })
	r.submit("R1", "environment: prod\nsteps:\n- {name: one, run: x}\n- {name: two, needs: [one], run: x, secrets: {T: token/t}}\n")
	r.until("R1", func(e store.Event) bool { return e.Step == "one" && e.Status == string(run.StepRunning) })
	r.stop()
	r.operator = load("version: 1\nenvironments: [{name: prod}]\n")
	r.begin()
	close(gate)
	d := r.until("R1", ended)
	if o := d.State.Steps[1].Outcome; d.Status != run.Failed || o == nil || o.Reason != reason.PermitWithdrawn {
		t.Errorf("%s: %s %+v", d.Status, r.statuses(d), o)
	}
}

// TestStopsAndStarts ends the engine at random moments, with observations held back, repeated and in another
// order. The executor checks what is asked of it, and counts what it has made.
func TestStopsAndStarts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t)
	r.Echo(true)
	var text strings.Builder
	text.WriteString("steps:\n")
	for n := range 20 {
		fmt.Fprintf(&text, "- {name: s%d, run: x", n)
		if n >= 5 {
			fmt.Fprintf(&text, ", needs: [s%d]", n-5)
		}
		text.WriteString("}\n")
	}
	for round := range 10 {
		id := fmt.Sprintf("R%02d", round)
		r.begin()
		r.submit(id, text.String())
		for range 3 {
			steps := 1 + chance.IntN(12)
			r.until(id, func(e store.Event) bool {
				if e.Kind == run.KindAttempt {
					steps--
				}
				return steps <= 0 || ended(e)
			})
			r.stop()
			r.begin()
		}
		if d := r.until(id, ended); d.Status != run.Succeeded {
			t.Fatalf("%s: %s", d.Status, r.statuses(d))
		}
		for n := range 20 {
			if made := r.Created(run.Ref{Run: id, Step: fmt.Sprintf("s%d", n), Attempt: 1}); made != 1 {
				t.Errorf("%d objects of s%d", made, n)
			}
		}
		r.stop()
	}
}

// refusing keeps no log the first time that it is asked to.
type refusing struct {
	noLogs
	asked *atomic.Int32
	tries chan error // what came of each
}

func (f refusing) Collect(ctx context.Context, _ run.Ref, read Source) error {
	err := errors.New("connection refused")
	if f.asked.Add(1) > 1 {
		var r io.ReadCloser
		if r, err = read(ctx); err == nil {
			err = r.Close()
		}
	}
	f.tries <- err
	return err
}

// A log that can't be had now is asked for again, and its object stays until then.
func TestLogIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	logs := refusing{asked: &atomic.Int32{}, tries: make(chan error, 2)}
	r.logs = logs
	r.begin()
	r.submit("R1", "steps: [{name: one, run: x}]\n")
	for i := range 2 {
		select {
		case err := <-logs.tries:
			if (err == nil) != (i == 1) {
				t.Errorf("try %d: %v", i+1, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("it was asked for %d times", i)
		}
	}
}
