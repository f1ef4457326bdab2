package storetest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

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

// order is that of submitting: ids that several processes make may come in another one.
func order(t *testing.T, open Open) {
	s, other := open(t), open(t)
	e := lead(t, s)
	must(t, other.Submit(t.Context(), submission(t, 2)))
	must(t, s.Submit(t.Context(), submission(t, 1)))
	for _, test := range []struct {
		after string
		want  []string
	}{{"", []string{id(2), id(1)}}, {id(2), []string{id(1)}}} {
		asked, err := s.Requests(t.Context(), e, test.after)
		must(t, err)
		if !reflect.DeepEqual(asked.Submitted, test.want) {
			t.Errorf("after %q: got %v, want %v", test.after, asked.Submitted, test.want)
		}
	}
}

// moot are requests that nobody need take up any more.
func moot(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	for n := 1; n <= 3; n++ {
		must(t, s.Submit(t.Context(), submission(t, n)))
	}
	must(t, s.Cancel(t.Context(), id(1), run.Cancel{By: "me"}))
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), State: &run.State{ID: id(1), Status: run.Succeeded}}}))
	must(t, s.Cancel(t.Context(), id(1), run.Cancel{By: "too late"}))
	must(t, s.Cancel(t.Context(), id(2), run.Cancel{By: "first"}))
	must(t, s.Cancel(t.Context(), id(2), run.Cancel{By: "second"}))
	asked, err := s.Requests(t.Context(), e, "")
	must(t, err)
	same(t, asked, store.Requests{Submitted: []string{id(2), id(3)}, Cancelled: map[string]run.Cancel{id(2): {By: "first"}}})
}

// crowd are more who wait than a store has means to wait with.
func crowd(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	const last = 20
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for after := int64(0); after < last; {
				if err := s.Wait(t.Context(), id(1), after); err != nil {
					t.Error(err)
					return
				}
				events, err := s.Events(t.Context(), id(1), after, last)
				if err != nil || len(events) == 0 {
					t.Errorf("woken for nothing: %v", err)
					return
				}
				after = events[len(events)-1].Number
			}
		})
	}
	for range last - 1 {
		must(t, s.Commit(t.Context(), e, []store.Transition{{Run: id(1), Entries: []run.Entry{{At: now, Kind: run.KindRun}}}}))
	}
	all.Wait()
}

// closing ends what waits.
func closing(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	must(t, s.Submit(t.Context(), submission(t, 1)))
	ended := make(chan error, 2)
	go func() { ended <- s.Wait(t.Context(), id(1), 1) }()
	go func() { _, err := s.Requests(t.Context(), e, id(1)); ended <- err }()
	must(t, s.Close())
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("it got what there is not")
		}
	}
	must(t, s.Close())
}
