package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

// BenchmarkCommit writes what an attempt's change comes to, of so many steps at once.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("transitions=%d", n), func(b *testing.B) {
			s, e := filled(b, n, 20)
			commits := make([]store.Transition, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for r := range commits {
					commits[r] = change(runID(r), i%20)
				}
				must(b, s.Commit(b.Context(), e, commits))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/transition")
		})
	}
}

// BenchmarkCommitLargeRun is one run in which 1,000 steps are active.
func BenchmarkCommitLargeRun(b *testing.B) {
	s, e := filled(b, 1, 1000)
	all := make([]run.Command, 1000)
	for i := range all {
		all[i] = run.Command{Kind: run.CommandStart, Step: stepID(i), Attempt: 1}
	}
	must(b, s.Commit(b.Context(), e, []store.Transition{{Run: runID(0), Started: all}}))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		must(b, s.Commit(b.Context(), e, []store.Transition{change(runID(0), i%1000)}))
	}
}

// BenchmarkLoad takes up 10,000 active steps.
func BenchmarkLoad(b *testing.B) {
	for _, shape := range [][2]int{{5, 2000}, {1000, 10}} {
		b.Run(fmt.Sprintf("runs=%d/steps=%d", shape[0], shape[1]), func(b *testing.B) {
			s, _ := filled(b, shape[0], shape[1])
			b.ReportAllocs()
			for b.Loop() {
				all, err := s.Load(b.Context(), "here")
				if err != nil || len(all) != shape[0] || len(all[0].State.Steps) != shape[1] {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRuns lists the newest of 1,000 runs.
func BenchmarkRuns(b *testing.B) {
	s, _ := filled(b, 1000, 10)
	for name, q := range map[string]store.Query{"all": {}, "none": {Pipeline: "other"}, "status": {Status: []run.Status{run.Failed}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.Runs(b.Context(), q)
				must(b, err)
			}
		})
	}
}

func runID(n int) string  { return fmt.Sprintf("01KBJ%021d", n) }
func stepID(n int) string { return fmt.Sprintf("step-%04d", n) }

// filled gives a store with so many runs of so many steps each.
func filled(b *testing.B, runs, steps int) (*Store, store.Epoch) {
	s, err := Open(b.Context(), Options{Path: filepath.Join(b.TempDir(), "berth.db")})
	must(b, err)
	b.Cleanup(func() { s.Close() })
	return s, fill(b, s, runs, steps)
}

// fill leads, and submits so many runs of so many steps each.
func fill(t testing.TB, s *Store, runs, steps int) store.Epoch {
	t.Helper()
	e, err := s.Lead(t.Context(), "test")
	must(t, err)
	var text strings.Builder
	text.WriteString("version: 1\nname: demo\nsteps:\n")
	for i := range steps {
		fmt.Fprintf(&text, "- {name: %s, image: golang:1.26, run: make test, env: {A: b}, resources: {cpu: \"1\", memory: 1Gi}}\n", stepID(i))
	}
	p := storetest.Plan(t, text.String())
	for r := range runs {
		state, entries := run.New(p, runID(r), moment)
		must(t, s.Submit(t.Context(), store.Submission{ID: runID(r), Target: "here", Plan: p, State: state, Entries: entries}))
	}
	return e
}

var moment = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// change is a step that has started to run: an ordinary transition.
func change(id string, step int) store.Transition {
	name := stepID(step)
	return store.Transition{
		Run: id,
		Steps: []*run.Step{{ID: name, Status: run.StepRunning, ReadyAt: moment, StartedAt: moment, Fence: 1, Attempt: &run.Attempt{
			Number: 1, Status: run.AttemptRunning, ID: "6d8f2c0e-8a51-4a37-9f6b-0c8c2e1f7a10", Fence: 1, Node: "node-1",
			RequestedAt: moment, AcceptedAt: moment, ScheduledAt: moment, StartedAt: moment}}},
		Entries: []run.Entry{{At: moment, Kind: run.KindAttempt, Step: name, Attempt: 1, Status: "running", Node: "node-1"},
			{At: moment, Kind: run.KindStep, Step: name, Attempt: 1, Status: "running"}},
		Started: []run.Command{{Kind: run.CommandStop, Step: name, Attempt: 1}},
		Done:    []run.Command{{Kind: run.CommandStart, Step: name, Attempt: 1}},
	}
}
