package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/berthdev/berth/internal/plan"
)

// How long the watch pauses when it ends with an error, and how often it may be forbidden in a row: a
// permission that was just given takes the API server a moment to know of.
const (
	watchPause    = 500 * time.Millisecond
	watchPauseMax = 10 * time.Second
	mostForbidden = 5
)

// watch follows the pods until the context ends. Whatever ends a connection (a bookmark that is too old, an
// API server that is restarted, a proxy that swallows everything, which the client's pings notice) is
// followed by another, from where it was or from a list. An error says that watching is forbidden.
func (e *Executor) watch(ctx context.Context) error {
	pods := pods(e.Watch, e.Namespace)
	label := plan.LabelInstance + "=" + e.Instance
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = label
			all := &corev1.PodList{}
			return all, pods.list(ctx, o, all)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = label
			w, err := pods.watch(ctx, o)
			if err != nil && ctx.Err() == nil {
				e.Options.Log.Warn("the watch of pods can't be opened; trying again", "namespace", e.Namespace, "error", err)
			}
			return w, err
		},
	}
	backoff := func() wait.Backoff {
		return wait.Backoff{Duration: watchPause, Cap: watchPauseMax, Factor: 2, Jitter: 0.5, Steps: 10}
	}
	inside := backoff()
	r := cache.NewReflectorWithOptions(source, &corev1.Pod{}, podStore{e}, cache.ReflectorOptions{Name: "berth", Backoff: &inside})
	forbidden, pause := 0, backoff()
	for {
		began := time.Now()
		err := r.ListAndWatchWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case apierrors.IsForbidden(err):
			if forbidden++; forbidden == mostForbidden {
				return fmt.Errorf("watch the pods of namespace %s: %w", e.Namespace, err)
			}
		case err != nil:
			e.Options.Log.Warn("the watch of pods failed; trying again", "namespace", e.Namespace, "error", err)
		}
		if !apierrors.IsForbidden(err) {
			forbidden = 0
		}
		if err == nil && time.Since(began) > time.Minute {
			pause = backoff()
		}
		if !sleep(ctx, pause.Step()) {
			return nil
		}
	}
}

// sleep waits, and says whether the context still holds.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseAfter is how long to wait after so many failures in a row, from a quarter of a second to half a
// minute, and not for all at once.
func pauseAfter(fails int) time.Duration {
	d := min(250*time.Millisecond<<min(max(fails-1, 0), 10), 30*time.Second)
	return d/2 + rand.N(d)
}

// podStore takes what the reflector has to say. Of a pod it keeps no more than the attempt's observation.
type podStore struct{ e *Executor }

var _ cache.TransformingStore = podStore{}

func (s podStore) Add(o any) error    { return s.event(o, false) }
func (s podStore) Update(o any) error { return s.event(o, false) }
func (s podStore) Delete(o any) error { return s.event(o, true) }
func (podStore) Resync() error        { return nil }

// Transformer trims the pods of a list while it is being streamed.
func (podStore) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		if pod, ok := o.(*corev1.Pod); ok {
			trim(pod)
		}
		return o, nil
	}
}

func (s podStore) event(o any, deleted bool) error {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return errors.New("no pod")
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.observe(pod, deleted)
	return nil
}

// Replace takes a whole list: the first one, or one after an interruption. A pod that is not in it is asked
// for by name before anything is said of it.
func (s podStore) Replace(list []any, _ string) error {
	e := s.e
	e.mu.Lock()
	defer e.mu.Unlock()
	listed := map[string]bool{}
	for _, o := range list {
		if pod, ok := o.(*corev1.Pod); ok {
			listed[string(pod.UID)] = true
			e.observe(pod, false)
		}
	}
	for _, r := range e.runs {
		for _, a := range r.attempts {
			if a.seen.ID != "" && !a.gone() && !listed[a.seen.ID] {
				a.confirm = true
				e.reaps.Add(a)
			}
		}
	}
	if !e.synced {
		e.synced = true
		e.outbox.put(nil)
	}
	return nil
}
