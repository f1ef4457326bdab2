package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/executor"
)

// errand is what is to be asked of the API server for an attempt.
type errand struct {
	id    string // to delete; "": to ask for the pod by name
	grace *int64
	stray bool
}

// reap deletes an attempt's pod, or finds out whether there is one.
func (e *Executor) reap(ctx context.Context, a *attempt) {
	for {
		todo, ok := e.todo(a)
		if !ok {
			return
		}
		within, cancel := context.WithTimeout(ctx, patience)
		var err error
		if todo.id != "" {
			err = e.delete(within, a, todo)
		} else {
			err = e.lookUp(within, a)
		}
		cancel()
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		e.mu.Lock()
		a.fails++
		fails := a.fails
		e.mu.Unlock()
		if fails == 5 || apierrors.IsForbidden(err) {
			e.Options.Log.Warn("a pod can't be deleted or asked for; trying again", "pod", a.name, "error", err)
		}
		e.reaps.AddAfter(a, pauseAfter(fails))
		return
	}
}

// todo says what comes next. While a create is under way nothing does: it is looked at again after that.
func (e *Executor) todo(a *attempt) (errand, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := int64(0)
	switch {
	case len(a.strays) > 0:
		return errand{id: a.strays[0], grace: &now, stray: true}, true
	case a.gone() || a.creating:
		return errand{}, false
	case a.confirm:
		return errand{}, true
	case a.stop == nil || a.asked:
		return errand{}, false
	}
	todo := errand{id: a.seen.ID, grace: a.stop.Grace}
	if todo.id == "" {
		todo.id = a.stop.ID
	}
	if a.stop.Force {
		todo.grace = &now
	}
	return todo, true
}

// delete asks for the deletion of one object and no other. That it is gone is seen by the watch, unless the
// API server says so right away.
func (e *Executor) delete(ctx context.Context, a *attempt, todo errand) error {
	uid := types.UID(todo.id)
	stop := a.wants(e)
	err := pods(e.Reap, e.Namespace).delete(ctx, a.name, metav1.DeleteOptions{GracePeriodSeconds: todo.grace, Preconditions: &metav1.Preconditions{UID: &uid}})
	gone := apierrors.IsNotFound(err) || apierrors.IsConflict(err)
	if err != nil && !gone {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a.fails = 0
	switch {
	case todo.stray:
		a.strays = a.strays[1:]
	case gone && (a.seen.ID == "" || a.seen.ID == todo.id):
		e.vanish(a)
	case a.stop == stop: // and not a harsher one since
		a.asked = true
		e.doubt(a)
	}
	return nil
}

// unseen is how long a deletion that was accepted may go without being seen.
const unseen = 30 * time.Second

// doubt asks for a pod again whose deletion was accepted and is not seen: a watch may be dead and not know it.
// e.mu is held.
func (e *Executor) doubt(a *attempt) {
	time.AfterFunc(unseen, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if a.asked && !a.gone() && a.seen.DeletionAt.IsZero() {
			a.asked, a.confirm = false, true
			e.reaps.Add(a)
		}
	})
}

func (a *attempt) wants(e *Executor) *executor.Stop {
	e.mu.Lock()
	defer e.mu.Unlock()
	return a.stop
}

// lookUp asks for the pod by name.
func (e *Executor) lookUp(ctx context.Context, a *attempt) error {
	pod := &corev1.Pod{}
	err := pods(e.Watch, e.Namespace).get(ctx, a.name, pod)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	a.fails, a.confirm = 0, false
	known := a.seen.ID
	if known == "" {
		known = a.wanted
	}
	switch {
	case a.creating || a.job != nil && !a.issued || a.gone(): // it has gone on since
	case err != nil || !e.ours(pod):
		e.vanish(a)
	case known != "" && known != string(pod.UID):
		e.vanish(a)
		e.stray(a, string(pod.UID))
	default:
		e.observe(pod, false)
		if a.stop == nil {
			e.outbox.put(a)
		}
	}
	return nil
}
