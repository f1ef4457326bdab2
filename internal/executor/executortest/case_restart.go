package executortest

import (
	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// already waits for nothing: it gives what was observed of an attempt before Synced.
func (f *fixture) already(ref run.Ref) run.Observation {
	f.t.Helper()
	all := f.All(ref)
	if len(all) == 0 {
		f.t.Fatalf("%v was not observed before Synced", ref)
	}
	return all[len(all)-1]
}

// An attempt that runs goes on if it can, and is lost if not; it is not started again either way.
func restartRunning(f *fixture) {
	a := f.attempt(trapping)
	before := f.runs(a, "up")
	f.restart()
	o := f.already(a.Ref)
	f.Start(a)
	switch {
	case o.ID != before.ID, o.Fence != before.Fence, !o.StartedAt.Equal(before.StartedAt):
		f.t.Errorf("%+v, and before it was %+v", o, before)
	case f.h.Survives && o.Phase != run.PhaseRunning:
		f.t.Errorf("it does not go on: %+v", o)
	case !f.h.Survives && (o.End == nil || o.End.Class != run.Lost):
		f.t.Errorf("it is not lost: %+v", o)
	}
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	if f.Objects(a.Ref) != 1 {
		f.t.Errorf("%d objects", f.Objects(a.Ref))
	}
}

// An attempt that has ended, has ended as it did, and its log is there.
func restartEnded(f *fixture) {
	const output = "a=1\n"
	a := f.attempt(task{`run: "echo log; echo a=1 > $BERTH_OUTPUT; exit 3"`, Behaviour{Log: "log\n", Ends: with(failed(3), output, false)}})
	before := f.ends(a, run.Failure)
	for range 2 {
		f.restart()
		o := f.already(a.Ref)
		if o.ID != before.ID || o.Phase != run.PhaseEnded || o.End == nil || !sameEnd(*o.End, *before.End) {
			f.t.Fatalf("%+v %+v, and before it was %+v %+v", o, o.End, before, before.End)
		}
		f.Start(a)
	}
	if log := f.log(before); log != "log\n" {
		f.t.Errorf("%q", log)
	}
	f.goes(a.Ref, executor.Stop{ID: before.ID})
	f.hasNoLog(a.Ref, before.ID)
}

// Of what is gone nothing is observed, and asking for it proves it.
func restartGone(f *fixture) {
	a := f.attempt(task{`run: "true"`, Behaviour{}})
	o := f.ends(a, run.Success)
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	f.restart()
	if all := f.All(a.Ref); len(all) > 0 {
		f.t.Errorf("%+v", all)
	}
	f.Confirm(a.Ref, o.ID)
	if o := f.UntilPhase(a.Ref, run.PhaseGone); o.Phase != run.PhaseGone {
		f.t.Errorf("%+v", o)
	}
}
