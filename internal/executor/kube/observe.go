package kube

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// overdueAfter is how long after its grace a pod that is being deleted counts as one whose node is silent.
const overdueAfter = time.Minute

// ours says whether a pod is one of this instance's attempts. One that has the labels and another name was
// made by someone who copied them.
func (e *Executor) ours(pod *corev1.Pod) bool {
	ref := refOf(pod)
	return ref != run.Ref{} && pod.Labels[plan.LabelInstance] == e.Instance && newAttempt(ref).name == pod.Name
}

// observe takes in how a pod is, or was when it was deleted.
func (e *Executor) observe(pod *corev1.Pod, deleted bool) {
	if !e.ours(pod) {
		e.Options.Log.Warn("a pod has this instance's label and is none of its attempts; it is left alone", "pod", pod.Name, "labels", pod.Labels)
		return
	}
	a := e.track(refOf(pod))
	o := Read(pod)
	switch {
	case a.gone():
		if a.seen.ID != o.ID && !deleted {
			e.stray(a, o.ID)
		}
		return
	case a.seen.ID != "" && a.seen.ID != o.ID:
		// Two objects of one name: which of them is the later one only the API server knows.
		if !deleted {
			a.confirm = true
			e.reaps.Add(a)
		}
		return
	}
	if deleted {
		o.Phase, o.Waiting = run.PhaseGone, nil
		if o.DeletionAt.IsZero() {
			o.DeletionAt = time.Now() // deleted without grace
		}
	} else if pod.DeletionTimestamp != nil {
		e.expect(a, pod.DeletionTimestamp.Time)
	}
	e.know(a, o)
}

// know brings the attempt up to what was seen of its object.
func (e *Executor) know(a *attempt, o run.Observation) {
	if o.SilentSince.IsZero() {
		o.SilentSince = a.silent
	}
	before, ended := a.seen, a.ended()
	a.seen = merge(before, o)
	if !a.creating {
		a.job = nil
	}
	if a.gone() {
		e.forget(a)
	}
	if a.ended() && !ended {
		e.breaker.freed()
	}
	if !same(before, a.seen) {
		e.outbox.put(a)
	}
	if a.stop != nil && !a.asked && !a.gone() {
		e.reaps.Add(a)
	}
}

// vanish notes that the attempt's object does not exist, and will not.
func (e *Executor) vanish(a *attempt) {
	if a.gone() {
		return
	}
	id := a.seen.ID
	if id == "" && a.stop != nil {
		id = a.stop.ID
	}
	if id == "" {
		id = a.wanted
	}
	ended := a.ended()
	a.seen.ID, a.seen.Phase, a.seen.Waiting, a.seen.Clock = id, run.PhaseGone, nil, run.NoClock
	e.forget(a)
	if !ended {
		e.breaker.freed()
	}
	e.outbox.put(a)
}

// refuse notes that the attempt has no object, and why it never can.
func (e *Executor) refuse(a *attempt, why *run.Outcome) {
	a.seen = run.Observation{Ref: a.ref, Phase: run.PhaseGone, Refused: why}
	e.forget(a)
	e.outbox.put(a)
}

// forget drops what an attempt that is gone needs no more.
func (e *Executor) forget(a *attempt) {
	if a.refusal != nil {
		a.seen = run.Observation{Ref: a.ref, Phase: run.PhaseGone, Refused: a.refusal}
	}
	if a.overdue != nil {
		a.overdue.Stop()
	}
	a.job, a.stop, a.refusal, a.overdue, a.confirm = nil, nil, nil, nil, false
}

// wait reports why an attempt that has no object has none.
func (e *Executor) wait(a *attempt, w *run.Waiting) {
	if a.seen.ID != "" || a.gone() {
		return
	}
	before := a.seen
	a.seen.Phase, a.seen.Waiting, a.seen.Clock = run.PhaseWaiting, w, run.NoClock
	if !same(before, a.seen) {
		e.outbox.put(a)
	}
}

// stray deletes another pod of an attempt that is settled: a create that was given up came to something.
func (e *Executor) stray(a *attempt, id string) {
	for _, known := range a.strays {
		if known == id {
			return
		}
	}
	e.Options.Log.Warn("deleting a late pod of an attempt that is over", "pod", a.name, "id", id)
	a.strays = append(a.strays, id)
	e.reaps.Add(a)
}

// expect notes when a deletion should be over. If it is not by then, its node does not see to it.
func (e *Executor) expect(a *attempt, over time.Time) {
	if a.overdue != nil {
		return
	}
	id := a.seen.ID
	a.overdue = time.AfterFunc(time.Until(over)+overdueAfter, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if a.gone() || id != "" && a.seen.ID != id {
			return
		}
		a.silent = over
		if a.seen.SilentSince.IsZero() {
			a.seen.SilentSince = over
			e.outbox.put(a)
		}
	})
}
