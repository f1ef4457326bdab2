package run

import (
	"time"

	"github.com/berthdev/berth/internal/reason"
)

// Status is that of a run.
type Status string

const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Rejected  Status = "rejected" // never admitted; it has findings and no steps
)

// Ended says whether it never changes again.
func (s Status) Ended() bool { return s != Queued && s != Running }

// StepStatus is that of a step.
type StepStatus string

const (
	StepPending   StepStatus = "pending"  // something that it needs has not ended
	StepReady     StepStatus = "ready"    // waits for admission, with a reason
	StepStarting  StepStatus = "starting" // an attempt exists
	StepRunning   StepStatus = "running"
	StepSucceeded StepStatus = "succeeded"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
	StepCancelled StepStatus = "cancelled"
)

// Ended says whether it never changes again.
func (s StepStatus) Ended() bool {
	return s == StepSucceeded || s == StepFailed || s == StepSkipped || s == StepCancelled
}

// Active says whether the step holds a slot.
func (s StepStatus) Active() bool { return s == StepStarting || s == StepRunning }

// AttemptStatus is that of an attempt.
type AttemptStatus string

const (
	Requested      AttemptStatus = "requested" // recorded, and not yet known to exist
	Accepted       AttemptStatus = "accepted"  // its object exists
	Scheduled      AttemptStatus = "scheduled" // its node is known
	AttemptRunning AttemptStatus = "running"
	AttemptEnded   AttemptStatus = "ended"
)

// Class is how an attempt ended.
type Class string

const (
	Success      Class = "success"
	Failure      Class = "failure" // the step's own exit code, or it could not start its command
	OOM          Class = "oom"
	Timeout      Class = "timeout"
	NeverStarted Class = "never_started"
	Lost         Class = "lost"
	CancelledRun Class = "cancelled"
)

// Outcome is how an attempt ended, and why.
type Outcome struct {
	Class    Class       `json:"class"`
	Reason   reason.Code `json:"reason"`
	Message  string      `json:"message,omitempty"`   // a sentence, with the cluster's own words where there are any
	ExitCode *int        `json:"exit_code,omitempty"` // of the step's container, if it had one
	Final    bool        `json:"final,omitempty"`     // trying again can't help: no retry by itself
}

// Waiting is why something has not started.
type Waiting struct {
	Reason  reason.Code `json:"reason"`
	Message string      `json:"message"`         // a sentence
	Place   int         `json:"place,omitempty"` // in the queue, from 1; 0: there is none
	Since   time.Time   `json:"since"`           // when this reason began
}

// State is that of a run. It is a value: whoever has one may keep it, and nobody writes to it.
type State struct {
	ID        string    `json:"id"` // ULID
	Status    Status    `json:"status"`
	Waiting   *Waiting  `json:"waiting,omitempty"` // while queued
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at,omitzero"` // when it was admitted
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Stop      *RunStop  `json:"stop,omitempty"`      // decided: no further step starts
	Finishing bool      `json:"finishing,omitempty"` // what the run had beside its attempts is to be removed
	Steps     []*Step   `json:"-"`                   // in the plan's order; each is stored on its own
}

// RunStop is the decision that a run ends before its steps do.
type RunStop struct {
	Reason  reason.Code `json:"reason"` // cancelled or run_timeout
	Message string      `json:"message,omitempty"`
	By      string      `json:"by,omitempty"` // who cancelled it
	At      time.Time   `json:"at"`
}

// Step is the state of a step. Steps are never written to; a changed one is another Step.
type Step struct {
	ID        string            `json:"id"`
	Status    StepStatus        `json:"status"`
	Waiting   *Waiting          `json:"waiting,omitempty"`   // while pending, ready or starting, or while its node is silent; nil: not known yet, or none
	ReadyAt   time.Time         `json:"ready_at,omitzero"`   // when it first became ready: its age in the queue
	NotBefore time.Time         `json:"not_before,omitzero"` // backoff: no attempt starts earlier
	Attempt   *Attempt          `json:"attempt,omitempty"`   // the last one
	Fence     int64             `json:"fence,omitempty"`     // the last one taken; it only grows
	Retries   int               `json:"retries,omitempty"`   // that retry.max counts
	Restarts  int               `json:"restarts,omitempty"`  // after never_started; at most MostRestarts
	StartedAt time.Time         `json:"started_at,omitzero"` // of the last attempt that ran
	EndedAt   time.Time         `json:"ended_at,omitzero"`   // when it became terminal
	Outcome   *Outcome          `json:"outcome,omitempty"`   // of the last attempt, or of what kept it from having one
	Outputs   map[string]string `json:"outputs,omitempty"`   // of an attempt that succeeded, or failed for good
}

// Attempt is one try of a step. Like a Step it is never written to.
type Attempt struct {
	Number      int           `json:"number"` // from 1
	Status      AttemptStatus `json:"status"`
	ID          string        `json:"id,omitempty"`    // of its object: a pod's UID; "" until accepted
	Fence       int64         `json:"fence,omitempty"` // that its object carries
	Node        string        `json:"node,omitempty"`
	RequestedAt time.Time     `json:"requested_at"`
	AcceptedAt  time.Time     `json:"accepted_at,omitzero"`
	ScheduledAt time.Time     `json:"scheduled_at,omitzero"`
	StartedAt   time.Time     `json:"started_at,omitzero"`  // of the step's container, by its node's clock
	FinishedAt  time.Time     `json:"finished_at,omitzero"` // likewise
	EndedAt     time.Time     `json:"ended_at,omitzero"`    // when the outcome was decided, by Berth's clock

	Clock      Clock     `json:"clock,omitempty"` // that runs now, and since when, by Berth's clock
	ClockSince time.Time `json:"clock_since,omitzero"`

	// DeletionAt is when someone asked for the object's deletion: the first value that was seen, since the
	// last one is another.
	DeletionAt  time.Time    `json:"deletion_at,omitzero"`
	Foreign     bool         `json:"foreign,omitempty"`     // DeletionAt was seen before Berth had a wish to end it
	SilentSince time.Time    `json:"silent_since,omitzero"` // its node has said nothing since; zero: it speaks
	Stop        *AttemptStop `json:"stop,omitempty"`        // Berth's own decision to end it
	Outcome     *Outcome     `json:"outcome,omitempty"`     // once ended
	Gone        bool         `json:"gone,omitempty"`        // its object is proven not to exist (any more)
}

// AttemptStop is Berth's decision to end an attempt. What it comes to is decided on what its object was
// when it was gone: it may have started, or ended by itself, in between.
type AttemptStop struct {
	Class   Class       `json:"class"` // Timeout, NeverStarted or CancelledRun
	Reason  reason.Code `json:"reason"`
	Message string      `json:"message,omitempty"`
	At      time.Time   `json:"at"`
}

// MostRestarts is how often a step is tried again after an attempt that never started.
const MostRestarts = 3
