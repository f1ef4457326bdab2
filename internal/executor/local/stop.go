package local

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Stop ends an attempt, or removes what is left of one that has ended.
func (e *Executor) Stop(s executor.Stop) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.known(s.Ref, s.ID)
	switch {
	case a == nil || !e.running:
	case a.seen.Phase == run.PhaseGone:
		e.say(a.seen)
	case a.seen.Phase == run.PhaseEnded:
		e.remove(a)
	default:
		grace := defaultGrace
		if s.Grace != nil {
			grace = time.Duration(*s.Grace) * time.Second
		}
		if s.Force {
			grace = 0
		}
		if o := a.seen; o.DeletionAt.IsZero() {
			o.DeletionAt = e.Now()
			e.report(a, o)
		}
		a.stopped = true
		a.halt(grace, errStopped)
	}
}

// Confirm says how an attempt is.
func (e *Executor) Confirm(ref run.Ref, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.known(ref, id); a != nil {
		e.say(a.seen)
	}
}

// known gives the attempt whose object has the ID, or any if that is "". One that nobody knows is gone, and
// stays so: it is not started any more. If the attempt's object is another one, only that with the ID is
// gone, which is said, and nil is given. e.mu is held.
func (e *Executor) known(ref run.Ref, id string) *attempt {
	a := e.attempts[ref]
	if a == nil {
		a = &attempt{seen: run.Observation{Ref: ref, ID: id, Phase: run.PhaseGone}}
		e.attempts[ref] = a
	}
	if id != "" && id != a.seen.ID {
		e.say(run.Observation{Ref: ref, ID: id, Phase: run.PhaseGone})
		return nil
	}
	return a
}

// remove removes what is left of an attempt that has ended, its log too, and says that it is gone. e.mu is held.
func (e *Executor) remove(a *attempt) {
	if a.removing || !e.running || a.seen.Phase != run.PhaseEnded {
		return
	}
	a.removing = true
	e.working.Go(func() {
		if err := removeAll(e.folder(a.seen.Ref)); err != nil { // FinishRun tries again
			e.Options.Log.Warn("what is left of an attempt could not be removed", "run", a.seen.Run, "step", a.seen.Step, "error", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		o := a.seen
		o.Phase, o.Waiting = run.PhaseGone, nil
		e.report(a, o)
	})
}

// FinishRun removes the run's folder, which takes long if its workspace is large: nobody waits for that.
func (e *Executor) FinishRun(_ context.Context, id string) error {
	if err := e.forget(id); err != nil {
		return err
	}
	if id == "" || !filepath.IsLocal(id) {
		return nil // there never was such a run
	}
	return removeAll(filepath.Join(e.Dir, id))
}

// forget forgets a run all of whose attempts are gone.
func (e *Executor) forget(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ref, a := range e.attempts { // in any order
		if ref.Run == id && a.seen.Phase != run.PhaseGone {
			return fmt.Errorf("attempt %d of the step %s is not gone yet", ref.Attempt, ref.Step)
		}
	}
	for ref := range e.attempts { // in any order
		if ref.Run == id {
			delete(e.attempts, ref)
		}
	}
	delete(e.spaces, id)
	return nil
}

// removeAll removes a folder in which a step may have taken away the right to write, as Go does with its
// module cache.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			_ = os.Chmod(path, 0o700) // before it is read
		}
		return nil
	})
	return os.RemoveAll(folder)
}
