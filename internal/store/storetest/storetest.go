// Package storetest is what every store must do.
package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/pipeline"
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
		"deposed":   deposed,
		"reopen":    reopen,
		"attempts":  attempts,
		"undone":    undone,
		"coalesced": coalesced,
		"whole":     whole,
		"numbering": numbering,
		"cancel":    cancel,
		"requests":  requests,
		"wait":      wait,
		"order":     order,
		"moot":      moot,
		"crowd":     crowd,
		"closing":   closing,
		"prefix":    prefix,
		"none":      none,
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
