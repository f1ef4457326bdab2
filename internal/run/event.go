package run

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/reason"
)

// Event is something that happens to a run.
type Event interface{ event() }

// Admitted says that the run may begin.
type Admitted struct{}

// Hold says why something that could begin does not: the run if Step is "", else the step, which is ready.
type Hold struct {
	Step    string
	Waiting Waiting // Since is the machine's to say: it stays while Reason and Message do
}

// Start says that a ready step may start: an attempt is requested. It is ignored if the step is not ready,
// or not ready yet (NotBefore, an older attempt that is not gone).
type Start struct{ Step string }

// Refuse says that a ready step may not start, for good: a permit was withdrawn, a text can't be evaluated.
// The step fails without an attempt.
type Refuse struct {
	Step    string
	Outcome Outcome
}

// Reissue takes a new fence for another create of an attempt that is only requested.
type Reissue struct {
	Step    string
	Attempt int
}

// Observed is what the executor reports.
type Observed struct{ Observation }

// Cancel is a person's decision to end the run.
type Cancel struct{ By, Message string }

// Tick says that time has passed. Nothing happens before Deadline.
type Tick struct{}

func (Admitted) event() {}
func (Hold) event()     {}
func (Start) event()    {}
func (Refuse) event()   {}
func (Reissue) event()  {}
func (Observed) event() {}
func (Cancel) event()   {}
func (Tick) event()     {}

// Ref names an attempt.
type Ref struct {
	Run     string `json:"run"`
	Step    string `json:"step"` // ID
	Attempt int    `json:"attempt"`
}

// Observation is what an executor saw of an attempt: all of what is known, not what changed. Observations
// of one object are in order, but for those that come twice.
type Observation struct {
	Ref
	ID    string // of the object; "" before it exists
	Fence int64  // that the object carries

	Phase   Phase
	Waiting *Waiting // why it has not started, Since as the executor knows it; nil: nothing is known yet
	Clock   Clock    // which of the step's timeouts runs while it waits

	Node        string    // "" until known
	ScheduledAt time.Time // zero until known
	StartedAt   time.Time // of the step's container, by its node's clock; zero: it is not known to have started
	DeletionAt  time.Time // when its deletion was asked for, whoever did: never zero again
	SilentSince time.Time // since when its node says nothing

	End     *End               // Phase Ended or Gone: how it ended; nil in Gone if nobody saw that
	Refused *Outcome           // Phase Gone: there never was an object, and why
	Cluster []placement.Origin // of the answer to a create: what the cluster added or changed
}

// Phase is how far an object is.
type Phase string

const (
	PhaseWaiting Phase = "waiting" // asked for, or there, and its container has not started
	PhaseRunning Phase = "running"
	PhaseEnded   Phase = "ended" // the step's container has ended, or never will start
	PhaseGone    Phase = "gone"  // there is no such object: never was, or not any more
)

// phases are all of them, in the order in which an object goes through them.
var phases = []Phase{PhaseWaiting, PhaseRunning, PhaseEnded, PhaseGone}

// Known says whether it is one of the phases.
func (p Phase) Known() bool { return slices.Contains(phases, p) }

// Before says whether an object is in this phase before it is in the other. No phase at all is before all.
func (p Phase) Before(q Phase) bool { return slices.Index(phases, p) < slices.Index(phases, q) }

// Clock is which timeout runs while an attempt waits.
type Clock string

const (
	NoClock       Clock = ""
	ClockSchedule Clock = "schedule" // schedule_timeout
	ClockImage    Clock = "image"    // image_timeout
	ClockConfig   Clock = "config"   // ConfigTimeout
)

// ConfigTimeout is how long a container may lack its configuration: a Secret or ConfigMap may be created
// after the pod, but not much later.
const ConfigTimeout = 2 * time.Minute

// End is how the object ended, by the rules of "reading an end" that need nothing but the object. Deletions
// are not in it: whether one was Berth's own is the state's to say.
type End struct {
	Outcome
	FinishedAt time.Time // of the step's container, by its node's clock; zero: it never started
	Output     string    // what the step wrote to $BERTH_OUTPUT
	Cut        bool      // Output is at its bound: its beginning may be missing
}

// Kinds of entries.
const (
	KindRun     = "run"
	KindStep    = "step"
	KindAttempt = "attempt"
)

// Entry is a row of the run's event log: one transition, or one changed reason to wait.
type Entry struct {
	At      time.Time         `json:"at"`
	Kind    string            `json:"kind"`              // run, step, attempt
	Step    string            `json:"step,omitempty"`    // ID
	Attempt int               `json:"attempt,omitempty"` // number
	Status  string            `json:"status"`            // what it is now
	Reason  reason.Code       `json:"reason,omitempty"`
	Message string            `json:"message,omitempty"`
	Place   int               `json:"place,omitempty"` // in the queue
	Node    string            `json:"node,omitempty"`
	ID      string            `json:"id,omitempty"` // of the attempt's object
	Class   Class             `json:"class,omitempty"`
	Exit    *int              `json:"exit_code,omitempty"`
	Outputs map[string]string `json:"outputs,omitempty"` // of a step that ended
}
