package engine

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/sqlite"
)

// instant is an executor whose attempts run as soon as they are started, and end when they are told to. On start it
// finds those of before.
type instant struct {
	reporter executor.Reporter
	before   []run.Observation
	started  chan run.Ref
}

func newInstant() *instant {
	return &instant{started: make(chan run.Ref, 20000)}
}

func (x *instant) Run(ctx context.Context, r executor.Reporter) error {
	x.reporter = r
	for _, o := range x.before {
		r.Observe(o)
	}
	r.Synced()
	<-ctx.Done()
	return nil
}

func (x *instant) Start(a executor.Attempt) {
	x.reporter.Observe(running(a.Ref))
	x.started <- a.Ref
}

func running(ref run.Ref) run.Observation {
	now := time.Now()
	return run.Observation{Ref: ref, ID: "6d8f2c0e-8a51-4a37-9f6b-" + ref.Step, Fence: 1, Phase: run.PhaseRunning, Node: "node-1", ScheduledAt: now, StartedAt: now}
}

// end has an attempt end well.
func (x *instant) end(ref run.Ref) {
	o := running(ref)
	o.Phase, o.End = run.PhaseEnded, &run.End{FinishedAt: time.Now(), Outcome: run.Outcome{Class: run.Success}}
	x.reporter.Observe(o)
}

func (x *instant) Stop(s executor.Stop) {
	o := running(s.Ref)
	o.Phase = run.PhaseGone
	x.reporter.Observe(o)
}

func (x *instant) Confirm(ref run.Ref, _ string) { x.reporter.Observe(running(ref)) }
func (x *instant) Log(context.Context, run.Ref, string, bool) (io.ReadCloser, error) {
	return nil, executor.ErrNoLog
}
func (x *instant) FinishRun(context.Context, string) error { return nil }

// bench starts an engine on a store.
func bench(b *testing.B, path string, x executor.Executor) (*sqlite.Store, func()) {
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		b.Fatal(err)
	}
	operator := profile.Empty()
	e, err := New(context.Background(), Options{Store: s, Executor: x, Target: target, Logs: noLogs{}, Operator: func() *profile.File { return operator }, Holder: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- e.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-over; err != nil {
			b.Error(err)
		}
		s.Close()
	}
}

func submit(b *testing.B, s *sqlite.Store, id, steps string) {
	file, findings := pipeline.Parse("p.yaml", []byte("version: 1\nname: p\ndefaults: {image: i}\nsteps:\n"+steps), pipeline.Options{})
	if file == nil {
		b.Fatal(findings.Text(nil))
	}
	out := plan.Make(file, profile.Empty(), pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		b.Fatal(out.Findings.Text(nil))
	}
	state, entries := run.New(out.Plan, id, time.Now())
	if err := s.Submit(context.Background(), store.Submission{ID: id, Target: target, Plan: out.Plan, State: state, Entries: entries}); err != nil {
		b.Fatal(err)
	}
}

func (x *instant) await(b *testing.B, n int) []run.Ref {
	refs := make([]run.Ref, n)
	for i := range refs {
		select {
		case refs[i] = <-x.started:
		case <-time.After(time.Minute):
			b.Fatalf("%d of %d have started", i, n)
		}
	}
	return refs
}

// BenchmarkDecision is how long it takes from the observation that a step has ended to the request to start the one
// that needed it, with 1,000 other steps active: the engine, its transactions on SQLite and nothing else.
func BenchmarkDecision(b *testing.B) {
	x := newInstant()
	s, stop := bench(b, filepath.Join(b.TempDir(), "berth.db"), x)
	defer stop()
	for r := range 10 {
		submit(b, s, fmt.Sprintf("01KBG%021d", r), many(100))
	}
	x.await(b, 1000)
	const long = 500
	var took []time.Duration
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		if n%long == 0 {
			var chain strings.Builder
			chain.WriteString("  - {name: c0, run: \"true\"}\n")
			for i := 1; i < long+1; i++ {
				fmt.Fprintf(&chain, "  - {name: c%d, needs: [c%d], run: \"true\"}\n", i, i-1)
			}
			submit(b, s, fmt.Sprintf("01KBH%021d", n), chain.String())
			x.await(b, 1)
		}
		ref := run.Ref{Run: fmt.Sprintf("01KBH%021d", n/long*long), Step: fmt.Sprintf("c%d", n%long), Attempt: 1}
		b.StartTimer()
		began := time.Now()
		x.end(ref)
		x.await(b, 1)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - {name: a%d, run: \"true\"}\n", i)
	}
	return b.String()
}

// BenchmarkReload is how long a berth takes to go on with 10,000 active steps of 10 runs after one was killed: from
// opening the file to the first decision, with all objects found as they were. B/step is what the heap holds for each.
func BenchmarkReload(b *testing.B) {
	const runs, each = 10, 1000
	path := filepath.Join(b.TempDir(), "berth.db")
	x := newInstant()
	s, stop := bench(b, path, x)
	for r := range runs {
		submit(b, s, fmt.Sprintf("01KBG%021d", r), many(each))
	}
	refs := x.await(b, runs*each)
	for _, ref := range refs { // until it is on record that they run
		if err := s.Wait(context.Background(), ref.Run, 5*each); err != nil {
			b.Fatal(err)
		}
	}
	stop()
	for b.Loop() {
		b.StopTimer()
		again := newInstant()
		for _, ref := range refs {
			again.before = append(again.before, running(ref))
		}
		before := heap()
		b.StartTimer()
		began := time.Now()
		s, stop := bench(b, path, again)
		submit(b, s, fmt.Sprintf("01KBJ%021d", time.Now().UnixNano()), many(1)) // which is taken up after all that
		again.await(b, 1)
		b.ReportMetric(time.Since(began).Seconds(), "s/reload")
		b.StopTimer()
		b.ReportMetric(float64(heap()-before)/runs/each, "B/step")
		stop()
		b.StartTimer()
	}
}

// heap is what is in use of it, once what is not has been collected.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
