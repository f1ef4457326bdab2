package kube

import (
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/run"
)

// attempt is what is known of an attempt, and what is wanted of it.
type attempt struct {
	ref  run.Ref
	name string
	seen run.Observation // Phase "": nothing has been; PhaseGone: it never changes again
	news bool            // seen is in the outbox

	job      *executor.Attempt // to be created; nil: not (any more)
	fence    int64             // of the next create, or of the last
	tries    int               // creates that were sent
	issued   bool              // one of them may have come to something
	creating bool              // a worker is at it: what is seen meanwhile is not reported yet
	probe    bool              // its create finds out whether the quota has room
	parked   bool              // it waits for the quota
	refusal  *run.Outcome      // why its pod is deleted again: as if it had never been

	stop    *executor.Stop
	asked   bool     // the API server has accepted the deletion, as stop wants it
	confirm bool     // to be asked for
	wanted  string   // the ID that confirm is about
	strays  []string // IDs of other pods of this attempt: late ones, to be deleted
	fails   int      // of requests in a row

	silent  time.Time // since when the deletion is overdue
	overdue *time.Timer
}

func newAttempt(ref run.Ref) *attempt {
	return &attempt{ref: ref, name: ident.PodName(ref.Step, ref.Run, ref.Attempt), seen: run.Observation{Ref: ref}}
}

func (a *attempt) gone() bool { return a.seen.Phase == run.PhaseGone }

// ended says whether nothing of it uses a quota any more.
func (a *attempt) ended() bool { return a.seen.Phase == run.PhaseEnded || a.gone() }

// held says whether what is seen is kept back: whether the pod stays is not decided yet.
func (a *attempt) held() bool { return a.creating || a.refusal != nil && !a.gone() }

// merge is what is known now, of what was known and what is seen of the same object. What is seen may be
// older than what is known: nothing goes back.
func merge(known, seen run.Observation) run.Observation {
	if seen.Phase.Before(known.Phase) {
		return known
	}
	if !known.DeletionAt.IsZero() {
		seen.DeletionAt = known.DeletionAt // the last event that carries it has another grace
	}
	if known.End != nil {
		seen.End = known.End
	}
	if seen.StartedAt.IsZero() && !known.StartedAt.IsZero() {
		seen.StartedAt = known.StartedAt
		if seen.End != nil && seen.End.Class == run.NeverStarted { // it was seen to run, whatever is known of it now
			end := *seen.End
			end.Class = run.Lost
			seen.End = &end
		}
	}
	if seen.Node == "" {
		seen.Node, seen.ScheduledAt = known.Node, known.ScheduledAt
	}
	if seen.Fence == 0 {
		seen.Fence = known.Fence
	}
	if seen.Waiting == nil && seen.Phase == run.PhaseWaiting {
		seen.Waiting, seen.Clock = known.Waiting, known.Clock
	}
	seen.Cluster = append(known.Cluster, seen.Cluster...)
	return seen
}

// same says whether two observations of one attempt say the same.
func same(a, b run.Observation) bool {
	waiting := a.Waiting == b.Waiting || a.Waiting != nil && b.Waiting != nil && *a.Waiting == *b.Waiting
	return waiting && a.ID == b.ID && a.Phase == b.Phase && a.Clock == b.Clock && a.Fence == b.Fence && a.Node == b.Node &&
		a.ScheduledAt.Equal(b.ScheduledAt) && a.StartedAt.Equal(b.StartedAt) && a.DeletionAt.Equal(b.DeletionAt) &&
		a.SilentSince.Equal(b.SilentSince) && (a.End == nil) == (b.End == nil) && a.Refused == b.Refused && len(a.Cluster) == len(b.Cluster)
}
