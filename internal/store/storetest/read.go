package storetest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

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

// none is what every verb says of a run that there is not.
func none(t *testing.T, open Open) {
	s := open(t)
	e := lead(t, s)
	for verb, do := range map[string]func() error{
		"Cancel": func() error { return s.Cancel(t.Context(), id(9), run.Cancel{}) },
		"Commit": func() error { return s.Commit(t.Context(), e, []store.Transition{{Run: id(9)}}) },
		"a step": func() error {
			return s.Commit(t.Context(), e, []store.Transition{{Run: id(9), Steps: []*run.Step{{ID: "one"}}}})
		},
		"Run":  func() error { _, err := s.Run(t.Context(), id(9)); return err },
		"Spec": func() error { _, err := s.Spec(t.Context(), id(9), "one"); return err },
		"Origins": func() error {
			_, err := s.Origins(t.Context(), run.Ref{Run: id(9), Step: "one", Attempt: 1})
			return err
		},
		"Wait": func() error { return s.Wait(t.Context(), id(9), 0) },
	} {
		if err := do(); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if events, err := s.Events(t.Context(), id(9), 0, 10); err != nil || len(events) != 0 {
		t.Errorf("Events: %v %v", events, err)
	}
}
