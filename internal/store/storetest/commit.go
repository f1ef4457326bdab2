package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

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

// numbering is from 1, without gaps, also of runs that are written at once.
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

// undone is a run that has ended, and whose objects are not gone yet.
func undone(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	collect := run.Command{Kind: run.CommandCollect, Step: "one", Attempt: 1, ID: "u", At: now, Keep: true}
	ended := &run.State{ID: id(1), Status: run.Failed, CreatedAt: now, StartedAt: now, EndedAt: now}
	steps := []*run.Step{{ID: "one", Status: run.StepFailed, EndedAt: now}, {ID: "two", Status: run.StepSkipped, EndedAt: now}}
	for range 2 { // a step that has ended is counted once
		must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), State: ended, Steps: steps, Started: []run.Command{collect}}}))
	}
	all, err := s.Load(t.Context(), "here")
	must(t, err)
	if len(all) != 1 || all[0].Status != run.Failed || all[0].Ended != 2 || len(all[0].Commands) != 1 || all[0].Commands[0] != collect {
		t.Fatalf("%+v", all)
	}
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Done: []run.Command{{Kind: run.CommandCollect, Step: "one", Attempt: 1}}}}))
	if all, err := s.Load(t.Context(), "here"); err != nil || len(all) != 0 {
		t.Errorf("nothing is left to do: %+v %v", all, err)
	}
}

// coalesced is an attempt that had gone on before it was first written.
func coalesced(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	for number, status := range []run.AttemptStatus{run.AttemptEnded, run.AttemptRunning, run.AttemptEnded} {
		step := &run.Step{ID: "one", Status: run.StepRunning, Attempt: &run.Attempt{Number: number + 1, Status: status, RequestedAt: now}}
		must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Steps: []*run.Step{step}}}))
	}
	d, err := s.Run(t.Context(), id(1))
	must(t, err)
	if len(d.Attempts) != 2 || d.Attempts[0].Status != run.AttemptEnded || d.Attempts[1].Status != run.AttemptRunning {
		t.Errorf("%+v", d.Attempts)
	}
}

// whole reads while another writes: what is read belongs together.
func whole(t *testing.T, open Open) {
	s, reader := open(t), open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	const last = 300
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 1; n <= last; n++ {
			state := &run.State{ID: id(1), Status: run.Running, Waiting: &run.Waiting{Place: n}}
			steps := []*run.Step{{ID: "one", Fence: int64(n)}, {ID: "two", Fence: int64(n)}}
			if err := s.Commit(t.Context(), e, []store.Transition{{Run: id(1), State: state, Steps: steps, Started: []run.Command{{Kind: run.CommandFinish, Attempt: n}}}}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := 0; n < last && !t.Failed(); {
		all, err := reader.Load(t.Context(), "here")
		must(t, err)
		a := all[0]
		if a.State.Waiting != nil {
			n = a.State.Waiting.Place
		}
		if int(a.State.Steps[0].Fence) != n || int(a.State.Steps[1].Fence) != n || len(a.Commands) != n {
			t.Errorf("the run is at %d, its steps at %d and %d, its commands at %d", n, a.State.Steps[0].Fence, a.State.Steps[1].Fence, len(a.Commands))
		}
	}
	writing.Wait()
}
