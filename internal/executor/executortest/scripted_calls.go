package executortest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// fail says that the caller broke the protocol. s.mu is held.
func (s *Scripted) fail(format string, args ...any) {
	if !s.lax && !s.over() {
		s.t.Errorf("the executor's caller: "+format, args...)
	}
}

// called says whether a call comes to anything. s.mu is held.
func (s *Scripted) called(what string) bool {
	if s.now == nil || s.now.ctx.Err() != nil || s.over() {
		return false
	}
	if !s.now.told {
		s.fail("%s before Synced", what)
	}
	return true
}

// Start starts an attempt.
func (s *Scripted) Start(job executor.Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := fmt.Sprintf("Start of attempt %d of %s %s", job.Attempt, job.Run, job.Step)
	if !s.called(what) {
		return
	}
	switch {
	case job.Run == "" || job.Step == "" || job.Attempt < 1:
		s.fail("%s: its ref is not complete", what)
	case job.Spec == nil || job.Spec.ID != job.Step:
		s.fail("%s: its spec is not its step's", what)
	case s.stopped[job.Ref]:
		s.fail("%s: it was stopped", what)
	case s.now.gone[job.Ref]:
		s.fail("%s: it was observed to be gone", what)
	case missing(job) != "":
		s.fail("%s: nobody has evaluated %s", what, missing(job))
	}
	s.issued(job.Ref, job.Fence, false)
	if s.objects[job.Ref] != nil || s.stopped[job.Ref] {
		return
	}
	for _, other := range s.live() {
		if keyOf(other) == keyOf(job.Ref) {
			s.fail("%s: attempt %d is not gone", what, other.Attempt)
		}
	}
	s.start(job)
}

// issued holds fences to growing with every create of a step. A Start that is repeated may repeat its own.
func (s *Scripted) issued(ref run.Ref, fence int64, anew bool) {
	now, last := issue{ref, fence, s.now}, s.issues[keyOf(ref)]
	if fence < last.fence || fence == last.fence && (anew || now != last) {
		s.fail("fence %d for attempt %d of %s %s, and the last one was %d", fence, ref.Attempt, ref.Run, ref.Step, last.fence)
	}
	if fence >= last.fence {
		s.issues[keyOf(ref)] = now
	}
}

// missing gives a late text of a step that nobody has evaluated.
func missing(job executor.Attempt) string {
	var all []plan.Text
	w := job.Spec.Work
	add := func(env map[string]plan.Text, lists ...[]plan.Text) {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			all = append(all, env[name])
		}
		for _, list := range lists {
			all = append(all, list...)
		}
	}
	add(w.Env, w.Command, w.Args)
	for _, service := range w.Services {
		add(service.Env, service.Command, service.Args)
	}
	for _, t := range all {
		if _, known := job.Texts[t.Text]; t.Late && !known {
			return t.Text
		}
	}
	return ""
}

// Stop ends an attempt, or removes one that has ended.
func (s *Scripted) Stop(stop executor.Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := fmt.Sprintf("Stop of attempt %d of %s %s", stop.Attempt, stop.Run, stop.Step)
	if !s.called(what) {
		return
	}
	o := s.objects[stop.Ref]
	if stop.ID != "" && (o == nil || o.seen.ID != stop.ID) {
		if s.ids[stop.ID] != stop.Ref {
			s.fail("%s: its object never was %q", what, stop.ID)
		}
		s.tell(run.Observation{Ref: stop.Ref, ID: stop.ID, Phase: run.PhaseGone})
		return
	}
	s.stopped[stop.Ref] = true
	switch {
	case o == nil || o.seen.Phase == run.PhaseGone:
		s.nothing(stop.Ref, stop.ID)
	case !o.stopping():
		if o.seen.DeletionAt.IsZero() && o.seen.Phase != "" {
			o.seen.DeletionAt = time.Now()
			s.tell(o.seen)
		}
		close(o.stop)
	}
}

// Confirm says how an attempt is.
func (s *Scripted) Confirm(ref run.Ref, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.called(fmt.Sprintf("Confirm of attempt %d of %s %s", ref.Attempt, ref.Run, ref.Step)) {
		return
	}
	switch o := s.objects[ref]; {
	case id != "" && (o == nil || o.seen.ID != id):
		s.tell(run.Observation{Ref: ref, ID: id, Phase: run.PhaseGone})
	case o == nil || o.seen.Phase == run.PhaseGone:
		s.nothing(ref, id)
	case o.seen.Phase != "":
		s.tell(o.seen)
	}
}

// nothing reports what is known of an attempt that has no object.
func (s *Scripted) nothing(ref run.Ref, id string) {
	if o := s.objects[ref]; o != nil {
		s.tell(o.seen)
		return
	}
	s.tell(run.Observation{Ref: ref, ID: id, Phase: run.PhaseGone})
}

// Delete has someone else delete an attempt's object: it goes as by a Stop that nobody called.
func (s *Scripted) Delete(ref run.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[ref]
	if o == nil || !o.exists() || o.stopping() {
		s.t.Errorf("%v has no object to delete", ref)
		return
	}
	o.seen.DeletionAt = time.Now()
	s.tell(o.seen)
	close(o.stop)
}

// FinishRun counts.
func (s *Scripted) FinishRun(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.called("FinishRun of " + id) {
		return context.Cause(ctx)
	}
	for _, ref := range s.live() {
		if ref.Run == id {
			s.fail("FinishRun of %s: attempt %d of %s is not gone", id, ref.Attempt, ref.Step)
		}
	}
	s.finished[id]++
	return nil
}
