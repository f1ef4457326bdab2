package executortest

import (
	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// An attempt that is asked for twice exists once.
func startTwice(f *fixture) {
	a := f.attempt(trapping)
	f.Start(a)
	f.Start(a)
	o := f.UntilPhase(a.Ref, run.PhaseRunning)
	again := a
	again.Fence++
	f.Start(again)
	f.Confirm(a.Ref, o.ID)
	o = f.goes(a.Ref, executor.Stop{ID: o.ID})
	if f.Objects(a.Ref) != 1 {
		f.t.Errorf("%d objects", f.Objects(a.Ref))
	}
	for _, o := range f.All(a.Ref) {
		if o.ID != "" && o.Phase != run.PhaseGone && o.Fence != a.Fence {
			f.t.Errorf("fence %d", o.Fence)
		}
	}
}

// What has ended stays so, and what is gone does.
func startEnded(f *fixture) {
	a := f.attempt(task{`run: exit 3`, Behaviour{Ends: failed(3)}})
	o := f.ends(a, run.Failure)
	f.Start(a)
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	f.Start(a)
	f.settled(a.Ref, 1)
}

// lives has another attempt run its whole life.
func (f *fixture) lives() {
	f.t.Helper()
	a := f.attempt(task{`run: "true"`, Behaviour{}})
	f.ends(a, run.Success)
	f.goes(a.Ref, executor.Stop{})
}

// settled says that an attempt is gone for good, and was so many objects: what was to come of it has come in the
// time of another one's whole life.
func (f *fixture) settled(ref run.Ref, objects int) {
	f.t.Helper()
	f.lives()
	all := f.All(ref)
	if len(all) == 0 || all[len(all)-1].Phase != run.PhaseGone || f.Objects(ref) != objects {
		f.t.Errorf("%d objects; observed: %+v", f.Objects(ref), all)
	}
}

// What is stopped before it is started never starts: who starts it may have been asked before, and be slower.
func stopFirst(f *fixture) {
	a := f.attempt(trapping)
	if o := f.goes(a.Ref, executor.Stop{}); o.End != nil || o.Refused != nil {
		f.t.Errorf("%+v", o)
	}
	f.Start(a)
	f.settled(a.Ref, 0)
}

// What is stopped at once is gone, whether it had been created by then or not.
func stopAtOnce(f *fixture) {
	a := f.attempt(trapping)
	f.Start(a)
	if o := f.goes(a.Ref, executor.Stop{}); o.End != nil && o.End.Class == run.Success && o.StartedAt.IsZero() {
		f.t.Errorf("%+v %+v", o, o.End)
	}
	f.Start(a)
	f.settled(a.Ref, f.Objects(a.Ref))
}

// A step that traps SIGTERM ends as it wants to. That it was asked to is observed before that, and once is
// enough for it to go.
func stopTrapping(f *fixture) {
	a := f.attempt(trapping)
	o := f.runs(a, "up")
	f.Stop(executor.Stop{Ref: a.Ref, ID: o.ID})
	o = f.UntilPhase(a.Ref, run.PhaseGone)
	if o.StartedAt.IsZero() || o.End != nil && (o.End.Class != run.Success || o.End.ExitCode == nil || *o.End.ExitCode != 0) {
		f.t.Errorf("%+v %+v", o, o.End)
	}
	for _, o := range f.All(a.Ref) {
		if o.End != nil && o.DeletionAt.IsZero() {
			f.t.Errorf("it has ended, and nothing says that it was asked to: %+v", o)
		}
	}
}

// A step that ignores SIGTERM is killed when its grace is over.
func stopIgnoring(f *fixture) {
	a := f.attempt(deaf)
	o := f.runs(a, "up")
	one := int64(1)
	o = f.goes(a.Ref, executor.Stop{ID: o.ID, Grace: &one})
	if o.End != nil && (o.End.Class != run.Failure || o.End.ExitCode == nil || *o.End.ExitCode != 137) {
		f.t.Errorf("%+v", o.End)
	}
}

// Stopping twice is stopping; the shorter grace counts. What is gone is said to be once more.
func stopTwice(f *fixture) {
	a := f.attempt(deaf)
	o := f.runs(a, "up")
	long, short := int64(3600), int64(1)
	f.Stop(executor.Stop{Ref: a.Ref, ID: o.ID, Grace: &long})
	f.Stop(executor.Stop{Ref: a.Ref, ID: o.ID, Grace: &short})
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	before := len(f.All(a.Ref))
	f.Stop(executor.Stop{Ref: a.Ref, ID: o.ID})
	f.Until(a.Ref, "gone again", func(run.Observation) bool { return len(f.All(a.Ref)) > before })
}

// Of two objects with a name only the one that was meant is stopped: the other is proven not to be it.
func stopAnother(f *fixture) {
	a := f.attempt(trapping)
	o := f.runs(a, "up")
	const other = "6f2f0c7e-8a0c-4d3a-9a0b-0d8d1f0f0f0f"
	f.Stop(executor.Stop{Ref: a.Ref, ID: other})
	f.Until(a.Ref, "another is gone", func(o run.Observation) bool { return o.ID == other && o.Phase == run.PhaseGone })
	f.Confirm(a.Ref, o.ID)
	o = f.Until(a.Ref, "runs", func(o run.Observation) bool { return o.ID != other })
	if o.Phase != run.PhaseRunning || !o.DeletionAt.IsZero() {
		f.t.Errorf("%+v", o)
	}
}

// Whoever asks how an attempt is is told.
func confirm(f *fixture) {
	unknown := run.Ref{Run: newRun(), Step: "s0", Attempt: 2}
	f.Confirm(unknown, "")
	if o := f.UntilPhase(unknown, run.PhaseGone); o.End != nil || o.Refused != nil {
		f.t.Errorf("%+v", o)
	}
	lost := run.Ref{Run: newRun(), Step: "s0", Attempt: 1}
	f.Confirm(lost, "some")
	if o := f.UntilPhase(lost, run.PhaseGone); o.ID != "some" {
		f.t.Errorf("%+v", o)
	}
	a := f.attempt(trapping)
	o := f.runs(a, "up")
	before := len(f.All(a.Ref))
	f.Confirm(a.Ref, o.ID)
	o = f.Until(a.Ref, "observed again", func(run.Observation) bool { return len(f.All(a.Ref)) > before })
	if o.Phase != run.PhaseRunning {
		f.t.Errorf("%+v", o)
	}
}
