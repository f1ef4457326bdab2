package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
	"github.com/berthdev/berth/devplane/internal/agent/podstatus"
)

// worker brings one pod through its life; doc.go draws it. It lives until the pod is gone from the
// API or the node is down.
type worker struct {
	n       *node
	uid     types.UID
	first   *corev1.Pod // as it was first seen, for references
	plan    plan
	runtime podruntime.Runtime // of this life of the node
	started time.Time
	ctl     *podruntime.Control
	// changed is told when anything below changed.
	changed chan struct{}

	mu      sync.Mutex
	pod     *corev1.Pod // the newest version known
	gone    bool        // from the API, says the watch
	quiet   bool        // the API has no such pod any more, says the API itself
	settled bool        // the last status has arrived
	states  podruntime.States
	known   bool // there is something to say about the pod
	ended   bool // nothing of it runs any more, and nothing will
	failure *podstatus.Failure
}

func newWorker(n *node, pod *corev1.Pod) *worker {
	w := &worker{n: n, runtime: n.runtime, uid: pod.UID, first: pod, pod: pod, started: n.a.now(), changed: make(chan struct{}, 1)}
	w.ctl = podruntime.NewControl(w.report, w.event)
	return w
}

// run is the whole life of the worker.
func (w *worker) run(ctx context.Context) {
	w.begin(ctx)
	var deadline deadlineTimer
	defer deadline.stop()
	var sent chan sending // nil while nothing is under way
	var retry <-chan time.Time
	delay := firstRetry
	for {
		if w.steer() {
			break
		}
		if next := w.nextSending(); sent == nil && retry == nil && next != nil {
			sent = make(chan sending, 1)
			go func() { sent <- w.send(ctx, next) }()
		}
		select {
		case <-ctx.Done():
			w.waitEnd()
			return
		case <-w.changed:
		case <-deadline.at(w.deadline()):
			w.expire()
		case <-retry:
			retry = nil
		case s := <-sent:
			sent = nil
			if s.err == nil {
				delay = firstRetry
				w.settle(s)
				continue
			}
			w.complain(s.err)
			retry = time.After(delay)
			delay = min(2*delay, maxRetry)
		}
	}
	w.runtime.Forget(w.uid)
}

// begin starts what the plan says.
func (w *worker) begin(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.plan.rejection != nil:
		w.ended, w.known = true, true
		w.ctl.Event(nil, corev1.EventTypeWarning, w.plan.rejection.Reason, w.plan.rejection.Message)
	case w.plan.ended:
		w.ended, w.known, w.states = true, true, w.plan.states
	default:
		w.n.running.Go(func() {
			w.runtime.Run(ctx, w.plan.run, w.ctl)
			w.ctl.Release()
			w.mu.Lock()
			w.ended = true
			w.mu.Unlock()
			w.tell()
		})
	}
}

// waitEnd waits until a killed pod is dead.
func (w *worker) waitEnd() {
	for {
		w.mu.Lock()
		ended := w.ended
		w.mu.Unlock()
		if ended {
			return
		}
		<-w.changed
	}
}

// steer asks the pod to end if it is to, and reports whether all is over.
func (w *worker) steer() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return w.gone
	}
	grace := time.Duration(ptr.Deref(w.pod.Spec.TerminationGracePeriodSeconds, 30)) * time.Second
	switch {
	case w.gone:
		w.ctl.Stop(0)
	case w.pod.DeletionTimestamp != nil:
		w.ctl.Stop(time.Duration(ptr.Deref(w.pod.DeletionGracePeriodSeconds, 0)) * time.Second)
	case w.failure != nil, podutil.IsPodPhaseTerminal(w.pod.Status.Phase):
		w.ctl.Stop(grace)
	}
	return false
}

// deadline is when the pod has been active for too long; the zero time if that does not matter
// (any more).
func (w *worker) deadline() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	seconds := w.pod.Spec.ActiveDeadlineSeconds
	if seconds == nil || w.ended || w.failure != nil || w.pod.DeletionTimestamp != nil {
		return time.Time{}
	}
	start := w.started
	if w.pod.Status.StartTime != nil {
		start = w.pod.Status.StartTime.Time
	}
	return start.Add(time.Duration(*seconds) * time.Second)
}

// deadlineTimer is a timer for a time that may change.
type deadlineTimer struct {
	when  time.Time
	timer *time.Timer
}

// at is told when the time has come; nil for the zero time.
func (d *deadlineTimer) at(when time.Time) <-chan time.Time {
	if when.IsZero() {
		d.stop()
		return nil
	}
	if d.timer == nil || !when.Equal(d.when) {
		d.stop()
		d.when, d.timer = when, time.NewTimer(time.Until(when))
	}
	return d.timer.C
}

func (d *deadlineTimer) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// expire makes a pod fail that has been active for too long.
func (w *worker) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || w.pod.DeletionTimestamp != nil {
		return
	}
	w.failure = &podstatus.Failure{Reason: "DeadlineExceeded", Message: "Pod was active on the node longer than the specified deadline"}
	w.ctl.Event(nil, corev1.EventTypeNormal, w.failure.Reason, w.failure.Message)
}

// usesNode says whether the pod takes resources of the node. It is called with n.mu held.
func (w *worker) usesNode() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plan.run != nil && !w.ended
}

// observe takes note of a version of the pod, unless a newer one is known.
func (w *worker) observe(pod *corev1.Pod) {
	w.learn(pod)
	w.tell()
}

func (w *worker) learn(pod *corev1.Pod) {
	if pod == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, w.pod.ResourceVersion); err == nil && c < 0 {
		return
	}
	w.pod = pod
}

// settle takes note of an answer.
func (w *worker) settle(s sending) {
	w.learn(s.pod)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = w.quiet || s.gone
	w.settled = w.settled || s.last
}

// vanish takes note that the pod is gone from the API.
func (w *worker) vanish() {
	w.mu.Lock()
	w.gone = true
	w.mu.Unlock()
	w.tell()
}

// report takes the newest states from the runtime.
func (w *worker) report(s podruntime.States) {
	w.mu.Lock()
	w.states, w.known = s, true
	w.mu.Unlock()
	w.tell()
}

func (w *worker) tell() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// event records an event on the pod or one of its containers.
func (w *worker) event(c *corev1.Container, eventType, reason, message string) {
	object := &corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: w.first.Namespace, Name: w.first.Name,
		UID: w.first.UID, ResourceVersion: w.first.ResourceVersion,
	}
	if c != nil {
		object.FieldPath = "spec.containers{" + c.Name + "}"
		if slices.ContainsFunc(w.first.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name }) {
			object.FieldPath = "spec.initContainers{" + c.Name + "}"
		}
	}
	w.n.recorder.Event(object, eventType, reason, message)
}
