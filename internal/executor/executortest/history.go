package executortest

import (
	"fmt"

	"github.com/berthdev/berth/internal/run"
)

// history is what was observed of the objects of one attempt.
type history struct {
	all  []run.Observation
	last map[string]run.Observation // by ID; "": before there is one
	end  map[string]run.End         // the first that was reported
	live string                     // ID of the object that is not gone; "": there is none
}

// add takes in an observation, and says what of the protocol it breaks.
func (h *history) add(o run.Observation) []string {
	var wrong []string
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s %s attempt %d, object %q: ", o.Run, o.Step, o.Attempt, o.ID)+fmt.Sprintf(format, args...))
		}
	}
	if h.last == nil {
		h.last, h.end = map[string]run.Observation{}, map[string]run.End{}
	}
	gone := o.Phase == run.PhaseGone
	bad(o.Phase.Known(), "phase %q", o.Phase)
	bad(o.Phase != run.PhaseEnded || o.End != nil, "it has ended, and nothing says how")
	bad(o.Phase == run.PhaseEnded || gone || o.End == nil, "an end in phase %s", o.Phase)
	bad(o.Refused == nil || gone && o.ID == "" && o.End == nil, "refused, in phase %s", o.Phase)
	bad(o.Phase == run.PhaseWaiting || o.Waiting == nil, "waiting, in phase %s", o.Phase)
	bad(o.ID != "" || o.Phase == run.PhaseWaiting || gone, "phase %s without an ID", o.Phase)
	bad(o.Phase != run.PhaseRunning || !o.StartedAt.IsZero(), "it runs, and nothing says since when")
	bad(o.Waiting == nil || o.Waiting.Reason != "" && o.Waiting.Message != "", "it waits without a reason or a message")

	was, known := h.last[o.ID]
	if known {
		bad(!o.Phase.Before(was.Phase), "%s after %s", o.Phase, was.Phase)
		if !gone { // nothing more than that need be known of what is gone
			bad(was.Phase == run.PhaseGone || o.Fence == was.Fence || o.ID == "", "fence %d, and before that %d", o.Fence, was.Fence)
			bad(was.DeletionAt.IsZero() || o.DeletionAt.Equal(was.DeletionAt), "deleted at %s, and before that at %s", o.DeletionAt, was.DeletionAt)
			bad(was.StartedAt.IsZero() || o.StartedAt.Equal(was.StartedAt), "started at %s, and before that at %s", o.StartedAt, was.StartedAt)
			bad(was.Node == "" || o.Node == was.Node, "on %s, and before that on %s", o.Node, was.Node)
		}
	}
	if first, has := h.end[o.ID]; has && o.End != nil {
		bad(sameEnd(first, *o.End), "it ended as %+v, and before that as %+v", *o.End, first)
	} else if o.End != nil {
		h.end[o.ID] = *o.End
	}
	if o.ID == "" && o.Phase == run.PhaseWaiting {
		bad(h.live == "", "it waits for an object, and there is one: %s", h.live)
	}
	if o.ID != "" && !gone {
		bad(h.live == "" || h.live == o.ID, "another object, and %s is not gone", h.live)
		h.live = o.ID
	} else if gone && o.ID == h.live {
		h.live = ""
	}
	h.last[o.ID] = o
	h.all = append(h.all, o)
	return wrong
}

func sameEnd(a, b run.End) bool {
	code := a.ExitCode == b.ExitCode || a.ExitCode != nil && b.ExitCode != nil && *a.ExitCode == *b.ExitCode
	return code && a.Class == b.Class && a.Reason == b.Reason && a.Message == b.Message && a.Final == b.Final &&
		a.FinishedAt.Equal(b.FinishedAt) && a.Output == b.Output && a.Cut == b.Cut
}

// objects gives the IDs that were observed, but for those of which nothing was seen but that they are gone.
func (h *history) objects() int {
	ids := map[string]bool{}
	for _, o := range h.all {
		if o.ID != "" && o.Phase != run.PhaseGone {
			ids[o.ID] = true
		}
	}
	return len(ids)
}
