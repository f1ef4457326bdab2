package storetest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

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
