package store

import (
	"context"
	"errors"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// Store makes runs durable. It may be used by several goroutines at once.
//
// One process at a time writes: it has taken the lease with Lead, and hands its Epoch to every call that
// changes a run. When another process has taken the lease since, such a call changes nothing and fails with
// ErrDeposed. Submit and Cancel need no lease: anybody may ask for a run, and for its end.
//
// Every call is one transaction: after an error nothing of it is there. What it returned nil for is on the
// disk, and outlives a power cut. Conflicts between transactions are retried inside.
type Store interface {
	// Instance is an id made when the store was: objects carry it, so that two stores in one namespace never
	// touch each other's.
	Instance() string

	// Lead takes the lease, and keeps it until Close. It fails with *HeldError while another process has it.
	// Whoever has it already may take it again: the epoch before is over with that.
	Lead(ctx context.Context, holder string) (Epoch, error)

	// Submit records a run: queued, or rejected with its findings. ErrExists: its id is taken.
	Submit(ctx context.Context, s Submission) error

	// Cancel records that someone wants the run to end. It is seen by whoever leads, in Requests. Of a run's
	// cancellations the first one counts. It is nil if the run has ended, and ErrNoRun if there is none.
	Cancel(ctx context.Context, id string, c run.Cancel) error

	// Requests waits until there is something that the leader has not taken up: runs submitted after the
	// given one, and cancellations that no call with this epoch has given yet. A leader that is killed before it
	// has taken them up leaves them to the next one. It fails with ErrDeposed rather than take up what is
	// the next one's.
	//
	// After is said of the order in which Submit was done, which need not be that of ids: several processes
	// make them. "" is before all. Runs of every target are given; what has ended is not, nor its cancellation.
	Requests(ctx context.Context, e Epoch, after string) (Requests, error)

	// Load gives the runs that have not ended, or whose commands are not done, of one target, by id.
	Load(ctx context.Context, target string) ([]Active, error)

	// Spec gives a step of a run's plan, without origins. ErrNoRun: there is no such run, or step of it.
	Spec(ctx context.Context, id, step string) (*plan.Step, error)

	// Commit records transitions, of several runs or of one, in their order. All or none of them are recorded.
	// ErrNoRun: one is of a run that there is not.
	Commit(ctx context.Context, e Epoch, all []Transition) error

	// For readers.

	// Runs lists runs, the newest first.
	Runs(ctx context.Context, q Query) ([]Record, error)

	// Run gives a run by its id, or by a beginning of it that only one run has. ErrNoRun, *AmbiguousError.
	Run(ctx context.Context, id string) (*Detail, error)

	// Origins gives where the values of an attempt's pod come from: those of the plan, and then those of the
	// cluster. ErrNoRun: there is no such run, or step of it.
	Origins(ctx context.Context, ref run.Ref) ([]placement.Origin, error)

	// Events gives the run's event log after a number, at most so many. A run that there is not has none.
	Events(ctx context.Context, id string, after int64, most int) ([]Event, error)

	// Wait waits until the run's event log has something after a number. That a run has ended is such an entry;
	// after it none need come. ErrNoRun.
	Wait(ctx context.Context, id string, after int64) error

	// Close gives up the lease, and ends what waits, with an error. It may be called twice.
	Close() error
}

// Epoch is a lease: it grows with each Lead.
type Epoch int64

var (
	ErrNoStore = errors.New("there is no state of runs")
	ErrNoRun   = errors.New("there is no such run")
	ErrExists  = errors.New("the run's id is taken")
	ErrDeposed = errors.New("another process has taken the lease")
)

// HeldError says who has the lease.
type HeldError struct{ Holder string }

func (e *HeldError) Error() string {
	if e.Holder == "" { // it has not said so yet
		return "in use by another process"
	}
	return "in use by " + e.Holder
}

// AmbiguousError says which runs a beginning of an id could be.
type AmbiguousError struct{ IDs []string }

func (e *AmbiguousError) Error() string { return "several runs begin like that" }

// Submission is a run as it is asked for.
type Submission struct {
	ID       string // ULID
	Target   string // what carries it out: "local", or a cluster and namespace; opaque
	Setup    []byte // how whoever resumes it finds that: JSON of the command line's; opaque
	Source   string // where the pipeline came from, for people
	Plan     *plan.Plan
	State    *run.State // queued, from run.New; or rejected
	Findings finding.List
	Entries  []run.Entry // first rows of the event log
}

// Requests is what others have asked of the leader.
type Requests struct {
	Submitted []string // ids, oldest first
	Cancelled map[string]run.Cancel
}

// Active is a run to go on with.
type Active struct {
	Detail
	Commands []run.Command // not done
}

// Record is a run in a list.
type Record struct {
	ID          string
	Pipeline    string
	Environment string
	Target      string
	Source      string
	Status      run.Status
	CreatedAt   time.Time
	StartedAt   time.Time
	EndedAt     time.Time
	Steps       int // how many
	Ended       int // how many of them have ended
}

// Detail is all of a run but the pods of its steps.
type Detail struct {
	Record
	Setup    []byte
	Plan     *plan.Plan // of its steps only what the graph needs: see run.Slim. nil if rejected before there was one
	State    *run.State
	Findings finding.List
	Attempts []Attempt // that are over, oldest first; the last one of each step is in State
}

// Attempt is one that another one followed.
type Attempt struct {
	Step string // ID
	run.Attempt
}

// Transition is what one step of the machine, or several, came to.
type Transition struct {
	Run     string
	State   *run.State    // what of the run itself changed; its Steps are not looked at. nil: nothing
	Steps   []*run.Step   // that changed; an attempt that differs in number from the one before is kept as one that is over
	Entries []run.Entry   // for the event log, in order
	Started []run.Command // not done yet; one that is there is replaced
	Done    []run.Command // Kind, Step and Attempt say which; one that is not there is done
	Cluster []Cluster     // what clusters made of pods
}

// Cluster is what a cluster added to a pod or changed in it.
type Cluster struct {
	Step    string
	Attempt int
	Origins []placement.Origin
}

// Event is a row of the event log.
type Event struct {
	Number int64 // from 1, without gaps, per run
	run.Entry
}

// Query says which runs.
type Query struct {
	Pipeline string       // "" for all
	Status   []run.Status // none for all
	Before   string       // id: older ones
	Most     int          // 0: 50
}
