package storetest

import (
	"errors"
	"testing"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

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
	all, err := s.Load(t.Context(), "here")
	must(t, err)
	if len(all) != 1 {
		t.Fatalf("%d runs", len(all))
	}
	same(t, all[0].Detail, before)
	same(t, all[0].State.Steps, before.State.Steps)
	same(t, all[0].Commands, []run.Command{{Kind: run.CommandStart, Step: "one", Attempt: 1}})
}

// deposed is a leader that does not know it yet.
func deposed(t *testing.T, open Open) {
	s := open(t)
	old := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	must(t, s.Cancel(t.Context(), id(1), run.Cancel{By: "me"}))
	e := lead(t, s)
	if err := s.Commit(t.Context(), old, []store.Transition{{Run: id(1), Entries: []run.Entry{{At: now, Kind: run.KindRun}}}}); !errors.Is(err, store.ErrDeposed) {
		t.Errorf("it commits: %v", err)
	}
	if asked, err := s.Requests(t.Context(), old, id(1)); !errors.Is(err, store.ErrDeposed) {
		t.Errorf("it takes requests up: %+v %v", asked, err)
	}
	asked, err := s.Requests(t.Context(), e, id(1))
	must(t, err)
	events, err := s.Events(t.Context(), id(1), 0, 10)
	must(t, err)
	if asked.Cancelled[id(1)].By != "me" || len(events) != 1 {
		t.Errorf("it left something behind: %+v %v", asked, events)
	}
}
