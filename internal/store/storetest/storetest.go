// Package storetest is what every store must do.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Open opens a store that has what was written to it before, by other stores that Open gave for the same test.
type Open func(t *testing.T) store.Store

// Run holds an implementation to the contract. fresh gives an Open of an empty store.
func Run(t *testing.T, fresh func(t *testing.T) Open) {
	for name, test := range map[string]func(*testing.T, Open){
		"submit":    submit,
		"commit":    commit,
		"all":       allOrNothing,
		"lease":     lease,
		"reopen":    reopen,
		"attempts":  attempts,
		"numbering": numbering,
		"cancel":    cancel,
		"requests":  requests,
		"wait":      wait,
		"prefix":    prefix,
		"runs":      runs,
		"rejected":  rejected,
		"origins":   origins,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

const text = `
version: 1
name: demo
steps:
  - {name: one, image: i, run: echo, outputs: [o], retry: {max: 2}}
  - {name: two, needs: [one], image: i, run: "echo ${{ steps.one.outputs.o }}"}
`

// Plan makes a plan of a pipeline.
func Plan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	file, findings := pipeline.Parse("p.yaml", []byte(text), pipeline.Options{})
	if file == nil {
		t.Fatal(findings.Text(nil))
	}
	out := plan.Make(file, profile.Empty(), pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		t.Fatal(out.Findings.Text(nil))
	}
	return out.Plan
}

// now has no part of a second that a store could lose, and no monotonic clock.
var now = time.Date(2026, 12, 1, 10, 0, 0, 123456789, time.UTC)

// id is a ULID that sorts by its number.
func id(n int) string { return fmt.Sprintf("01KBJ%021d", n) }

func submission(t testing.TB, n int) store.Submission {
	p := Plan(t, text)
	state, entries := run.New(p, id(n), now)
	return store.Submission{ID: id(n), Target: "here", Setup: []byte(`{"a":1}`), Source: "p.yaml", Plan: p, State: state, Entries: entries}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func lead(t *testing.T, s store.Store) store.Epoch {
	t.Helper()
	e, err := s.Lead(t.Context(), "test")
	must(t, err)
	return e
}

// drive steps a run's machine and commits what comes of it.
func drive(t *testing.T, s store.Store, e store.Epoch, id string, events ...run.Event) *store.Detail {
	t.Helper()
	for _, event := range events {
		d, err := s.Run(t.Context(), id)
		must(t, err)
		g, err := run.NewGraph(d.Plan)
		must(t, err)
		r := g.Step(d.State, event, run.Settings{}, now)
		must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id, State: r.State, Steps: run.Changed(d.State, r.State), Entries: r.Entries,
			Started: r.Commands, Done: r.Done}}))
	}
	d, err := s.Run(t.Context(), id)
	must(t, err)
	return d
}

func same(t *testing.T, got, want any) {
	t.Helper()
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func submit(t *testing.T, open Open) {
	s := open(t)
	sub := submission(t, 1)
	must(t, s.Submit(t.Context(), sub))
	if err := s.Submit(t.Context(), sub); !errors.Is(err, store.ErrExists) {
		t.Errorf("submitted twice: %v", err)
	}
	d, err := s.Run(t.Context(), sub.ID)
	must(t, err)
	same(t, d.State, sub.State)
	same(t, d.State.Steps, sub.State.Steps)
	same(t, d.Plan, run.Slim(sub.Plan))
	if d.Pipeline != "demo" || d.Status != run.Queued || d.Target != "here" || string(d.Setup) != `{"a":1}` || d.Steps != 2 || d.Ended != 0 || !d.CreatedAt.Equal(now) {
		t.Errorf("%+v", d.Record)
	}
	spec, err := s.Spec(t.Context(), sub.ID, "two")
	must(t, err)
	want := sub.Plan.Steps[1]
	want.Pod.Origins = nil
	same(t, spec, want)
	if !reflect.DeepEqual(spec.Pod.Fragment, want.Pod.Fragment) {
		t.Error("integers of the pod are not what they were")
	}
	if _, err := s.Spec(t.Context(), sub.ID, "three"); !errors.Is(err, store.ErrNoRun) {
		t.Errorf("a step that there is not: %v", err)
	}
}

func commit(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	d := drive(t, s, e, id(1), run.Admitted{}, run.Start{Step: "one"})
	if d.Status != run.Running || d.State.Steps[0].Status != run.StepStarting || d.State.Steps[0].Attempt.Fence != 1 {
		t.Errorf("%+v", d.State.Steps[0])
	}
	all, err := s.Load(t.Context(), "here")
	must(t, err)
	if len(all) != 1 || len(all[0].Commands) != 1 || all[0].Commands[0].Kind != run.CommandStart {
		t.Fatalf("%+v", all)
	}
	ref := run.Ref{Run: id(1), Step: "one", Attempt: 1}
	drive(t, s, e, id(1), run.Observed{Observation: run.Observation{Ref: ref, ID: "u", Phase: run.PhaseRunning, StartedAt: now}})
	all, err = s.Load(t.Context(), "here")
	must(t, err)
	if len(all[0].Commands) != 0 {
		t.Errorf("not done: %+v", all[0].Commands)
	}
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Done: []run.Command{{Kind: run.CommandStart, Step: "one", Attempt: 1}}}})) // done twice
	if other, err := s.Load(t.Context(), "elsewhere"); err != nil || len(other) != 0 {
		t.Errorf("of another target: %v %v", other, err)
	}
}

func allOrNothing(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	entry := []run.Entry{{At: now, Kind: run.KindRun, Status: "running"}}
	err := s.Commit(t.Context(), e, []store.Transition{
		{Run: id(1), Entries: entry, Started: []run.Command{{Kind: run.CommandFinish}}},
		{Run: id(2), Entries: entry},
	})
	if !errors.Is(err, store.ErrNoRun) {
		t.Errorf("a transition of a run that there is not: %v", err)
	}
	err = s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Entries: entry}, {Run: id(1), Steps: []*run.Step{{ID: "three"}}}})
	if err == nil {
		t.Error("a transition of a step that there is not")
	}
	events, err := s.Events(t.Context(), id(1), 0, 10)
	must(t, err)
	all, err := s.Load(t.Context(), "here")
	must(t, err)
	if len(events) != 1 || len(all[0].Commands) != 0 {
		t.Errorf("something of it is there: %v %v", events, all[0].Commands)
	}
}

func lease(t *testing.T, open Open) {
	a, b := open(t), open(t)
	old := lead(t, a)
	var held *store.HeldError
	if _, err := b.Lead(t.Context(), "b"); !errors.As(err, &held) || held.Holder != "test" {
		t.Errorf("a lease that is taken: %v", err)
	}
	must(t, b.Submit(t.Context(), submission(t, 1)))
	must(t, b.Cancel(t.Context(), id(1), run.Cancel{By: "b"}))
	must(t, a.Close())
	now := lead(t, b)
	if now <= old {
		t.Errorf("epochs %d, then %d", old, now)
	}
	if err := b.Commit(t.Context(), old, []store.Transition{{Run: id(1)}}); !errors.Is(err, store.ErrDeposed) {
		t.Errorf("an old leader writes: %v", err)
	}
}

func reopen(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	instance := s.Instance()
	must(t, s.Submit(t.Context(), submission(t, 1)))
	before := drive(t, s, e, id(1), run.Admitted{}, run.Start{Step: "one"}, run.Hold{Step: "two"})
	must(t, s.Close())
	s = open(t)
	if s.Instance() != instance || instance == "" {
		t.Errorf("instance %q, then %q", instance, s.Instance())
	}
	after, err := s.Run(t.Context(), id(1))
	must(t, err)
	same(t, after, before)
	same(t, after.State.Steps, before.State.Steps)
}

func attempts(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	ref := run.Ref{Run: id(1), Step: "one", Attempt: 1}
	why := run.Outcome{Class: run.NeverStarted, Reason: "x", Message: "m"}
	drive(t, s, e, id(1), run.Admitted{}, run.Start{Step: "one"}, run.Observed{Observation: run.Observation{Ref: ref, Phase: run.PhaseGone, Refused: &why}})
	d, err := s.Run(t.Context(), id(1))
	must(t, err)
	g, err := run.NewGraph(d.Plan)
	must(t, err)
	r := g.Step(d.State, run.Start{Step: "one"}, run.Settings{}, now.Add(time.Hour))
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Steps: run.Changed(d.State, r.State), Started: r.Commands}}))
	d, err = s.Run(t.Context(), id(1))
	must(t, err)
	if len(d.Attempts) != 1 || d.Attempts[0].Step != "one" || d.Attempts[0].Number != 1 || d.Attempts[0].Outcome.Message != "m" || d.State.Steps[0].Attempt.Number != 2 {
		t.Errorf("attempts that are over: %+v; now %+v", d.Attempts, d.State.Steps[0].Attempt)
	}
}

func numbering(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	var all sync.WaitGroup
	for n := 1; n <= 4; n++ {
		must(t, s.Submit(t.Context(), submission(t, n)))
		all.Go(func() {
			for range 20 {
				if err := s.Commit(t.Context(), e, []store.Transition{{Run: id(n), Entries: []run.Entry{{At: now, Kind: run.KindRun}, {At: now, Kind: run.KindStep}}}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for n := 1; n <= 4; n++ {
		events, err := s.Events(t.Context(), id(n), 0, 100)
		must(t, err)
		for i, event := range events {
			if event.Number != int64(i+1) {
				t.Fatalf("event %d has number %d", i+1, event.Number)
			}
		}
		page, err := s.Events(t.Context(), id(n), 5, 3)
		must(t, err)
		if len(events) != 41 || len(page) != 3 || page[0].Number != 6 {
			t.Errorf("%d events; page %v", len(events), page)
		}
	}
}

func cancel(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	if err := s.Cancel(t.Context(), id(1), run.Cancel{}); !errors.Is(err, store.ErrNoRun) {
		t.Errorf("of no run: %v", err)
	}
	must(t, s.Submit(t.Context(), submission(t, 1)))
	must(t, s.Cancel(t.Context(), id(1), run.Cancel{By: "me"}))
	asked, err := s.Requests(t.Context(), e, id(1))
	must(t, err)
	if asked.Cancelled[id(1)].By != "me" || len(asked.Submitted) != 0 {
		t.Errorf("%+v", asked)
	}
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if asked, err := s.Requests(short, e, id(1)); err == nil {
		t.Errorf("given twice: %+v", asked)
	}
	must(t, s.Close())
	s = open(t)
	asked, err = s.Requests(t.Context(), lead(t, s), id(1))
	must(t, err)
	if asked.Cancelled[id(1)].By != "me" {
		t.Errorf("a new leader does not get it: %+v", asked)
	}
}

func requests(t *testing.T, open Open) {
	s, other := open(t), open(t)
	e := lead(t, s)
	got := make(chan store.Requests, 1)
	go func() {
		asked, err := s.Requests(t.Context(), e, "")
		if err != nil {
			t.Error(err)
		}
		got <- asked
	}()
	must(t, other.Submit(t.Context(), submission(t, 1)))
	if asked := <-got; len(asked.Submitted) != 1 || asked.Submitted[0] != id(1) {
		t.Errorf("%+v", asked)
	}
}

func wait(t *testing.T, open Open) {
	s, other := open(t), open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	must(t, s.Wait(t.Context(), id(1), 0))
	var all sync.WaitGroup
	for _, reader := range []store.Store{s, other} {
		all.Go(func() {
			if err := reader.Wait(t.Context(), id(1), 1); err != nil {
				t.Error(err)
			}
		})
	}
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Entries: []run.Entry{{At: now, Kind: run.KindRun}}}}))
	all.Wait()
	if err := s.Wait(t.Context(), id(9), 0); !errors.Is(err, store.ErrNoRun) {
		t.Errorf("of no run: %v", err)
	}
}

func prefix(t *testing.T, open Open) {
	s := open(t)
	must(t, s.Submit(t.Context(), submission(t, 10)))
	must(t, s.Submit(t.Context(), submission(t, 21)))
	d, err := s.Run(t.Context(), id(21))
	must(t, err)
	if d.ID != id(21) {
		t.Errorf("got %s", d.ID)
	}
	if d, err := s.Run(t.Context(), "01kbj00000000000000000001"); err != nil || d.ID != id(10) {
		t.Errorf("in lower case: %v %v", d, err)
	}
	var several *store.AmbiguousError
	if _, err := s.Run(t.Context(), "01KBJ"); !errors.As(err, &several) || len(several.IDs) != 2 {
		t.Errorf("ambiguous: %v", err)
	}
	for _, none := range []string{"01KBK", ""} {
		if _, err := s.Run(t.Context(), none); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("%q: %v", none, err)
		}
	}
}

func runs(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	for n := 1; n <= 3; n++ {
		must(t, s.Submit(t.Context(), submission(t, n)))
	}
	drive(t, s, e, id(2), run.Admitted{})
	for _, test := range []struct {
		q    store.Query
		want []int
	}{
		{store.Query{}, []int{3, 2, 1}},
		{store.Query{Most: 2}, []int{3, 2}},
		{store.Query{Before: id(2)}, []int{1}},
		{store.Query{Status: []run.Status{run.Running}}, []int{2}},
		{store.Query{Status: []run.Status{run.Running, run.Queued}, Pipeline: "demo", Most: 1}, []int{3}},
		{store.Query{Pipeline: "other"}, nil},
	} {
		got, err := s.Runs(t.Context(), test.q)
		must(t, err)
		var ids, want []string
		for _, r := range got {
			ids = append(ids, r.ID)
		}
		for _, n := range test.want {
			want = append(want, id(n))
		}
		if !reflect.DeepEqual(ids, want) {
			t.Errorf("%+v: got %v, want %v", test.q, ids, want)
		}
	}
}

func rejected(t *testing.T, open Open) {
	s := open(t)
	sub := submission(t, 1)
	header := *sub.Plan
	header.Steps = nil
	sub.Plan, sub.State = &header, &run.State{ID: id(1), Status: run.Rejected, CreatedAt: now, EndedAt: now}
	sub.Findings = finding.Of(finding.Finding{Code: finding.OverlayForbidden, Severity: finding.Error, Message: "no", Fix: "don't", Line: 3})
	must(t, s.Submit(t.Context(), sub))
	d, err := s.Run(t.Context(), id(1))
	must(t, err)
	if d.Status != run.Rejected || d.Pipeline != "demo" {
		t.Errorf("%+v", d.Record)
	}
	same(t, d.Findings, sub.Findings)
	if all, err := s.Load(t.Context(), "here"); err != nil || len(all) != 0 {
		t.Errorf("it is active: %v %v", all, err)
	}
}

func origins(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	sub := submission(t, 1)
	must(t, s.Submit(t.Context(), sub))
	ref := run.Ref{Run: id(1), Step: "one", Attempt: 1}
	before, err := s.Origins(t.Context(), ref)
	must(t, err)
	same(t, before, sub.Plan.Steps[0].Pod.Origins)
	seen := []placement.Origin{{Path: placement.MustPath("tolerations"), Layers: []string{"cluster"}, Value: "x"}}
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Cluster: []store.Cluster{{Step: "one", Attempt: 1, Origins: seen}}}}))
	after, err := s.Origins(t.Context(), ref)
	must(t, err)
	same(t, after[len(before):], seen)
}
