package executor

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// Executor carries out attempts. An attempt has one object (a pod, a group of processes), whose name is a
// function of its run.Ref, so that it can be asked for twice and exists once.
//
// Order of calls: Run first and once; Start, Stop, Confirm and FinishRun from when Run has called Synced
// until its context ends; Log at any time. All may be called by several goroutines at once.
//
// Start, Stop and Confirm return at once, without an error: what comes of them is observed. All three are
// idempotent, and may be repeated at any time, after a restart too.
//
// After a failure, of the executor or of what it talks to, nothing is assumed: a request that got no answer
// is repeated, an object's absence is proven by asking for it, and what had ended stays as it was reported.
type Executor interface {
	// Run watches until the context ends, and reports to r: first every object of this instance that there
	// is, then Synced, then whatever changes. Whatever can be mended by trying again is tried again, with
	// pauses; an error is what can't be (no permission to watch, say), and ends everything.
	Run(ctx context.Context, r Reporter) error

	// Start asks for the attempt's object.
	//   - It exists already, is ours and not being deleted: it is taken over, with the fence that it carries.
	//   - It is ours and being deleted: it is followed to its end. None is created in its place.
	//   - It is not ours: observed as Gone, with Refused.
	//   - It can never be created as it is: observed as Gone, with Refused, Final if trying again can't help.
	//   - It can't be created now (quota, overload, no answer): observed as waiting, and tried again, each
	//     time with a new fence.
	// An attempt that was started already, and one whose end was observed, are left as they are.
	Start(a Attempt)

	// Stop ends the attempt: its processes get SIGTERM, and SIGKILL when their grace is over; an object that
	// does not exist yet is not created any more. It is observed as Gone when that is proven, also if there
	// never was one. With Force, an object whose node is silent is given up without that proof.
	Stop(s Stop)

	// Confirm asks how an attempt is that no observation spoke of: it is observed, Gone if need be.
	Confirm(ref run.Ref, id string)

	// Log reads what the step's container has written. With follow it goes on until the container has ended
	// or the context does. ErrNoLog: there is none (any more).
	Log(ctx context.Context, ref run.Ref, id string, follow bool) (io.ReadCloser, error)

	// FinishRun removes what the run had beside its attempts (its workspace). It is called when all of its
	// objects are gone, and is nil if there is nothing (any more) to remove.
	FinishRun(ctx context.Context, run string) error
}

// ErrNoLog says that there is no log to be had: the container never started, or its object is gone.
var ErrNoLog = errors.New("no log")

// Reporter is who an Executor reports to. Its methods may be called by several goroutines at once. Observe and
// Synced return at once, and may be called with locks held; Fence takes as long as a transaction of the store.
type Reporter interface {
	// Observe takes an observation. Those of one object come in order.
	Observe(run.Observation)

	// Synced says that every object which existed when Run began was observed.
	Synced()

	// Fence takes a new fence, durably, for another create of an attempt that Start was called for. An error
	// says that the attempt may not be created any more.
	Fence(ctx context.Context, ref run.Ref) (int64, error)
}

// Attempt is what an executor needs to know of an attempt. It is not written to.
type Attempt struct {
	run.Ref
	Fence     int64             // of the first create
	Pipeline  string            // name
	Env       string            // environment that the run targets, if any
	Spec      *plan.Step        // without origins
	Texts     map[string]string // what the step's late texts came to, by text as the plan has it
	Workspace *plan.Workspace   // nil if the run has none
}

// Stop says which attempt to end, and how.
type Stop struct {
	run.Ref
	ID    string // of the object, if known: no other one of the same name is touched
	Grace *int64 // seconds; nil: what the object itself says
	Force bool
}

// ForgottenAfter is how long an object of this instance that no record speaks of is left alone.
const ForgottenAfter = 10 * time.Minute
