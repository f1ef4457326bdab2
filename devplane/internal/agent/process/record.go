package process

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// state is where a container is; doc.go draws it.
type state int

const (
	waiting state = iota
	starting
	running
	exited
)

// record is what the run of a pod knows of one container. It belongs to the pod's loop.
type record struct {
	c    *corev1.Container
	init bool // an init container that has to end
	side bool // an init container that stays (a native sidecar)

	state state
	// next is the time before which the container is not started (again). The zero time says that
	// it may be started now, never says not at all.
	next  time.Time
	never bool

	why     *notStarted // of state waiting, if there is more to say than that it waits
	pull    pull
	tries   int           // in vain, since the last run
	backOff time.Duration // before the next restart

	id       string
	restarts int32
	started  bool // running, startup probe and postStart hook passed
	ready    bool // running, started, readiness probe passed
	since    time.Time
	run      *run                             // of states running and exited
	stop     *stop                            // of state running, when it is to end
	term     *corev1.ContainerStateTerminated // of the present run, in state exited
	last     *corev1.ContainerStateTerminated // of the run before
}

// notStarted is why a container could not be started, and when to try again.
type notStarted struct {
	reason, message string
	again           time.Time // the zero time: never
	events          []event   // recorded once for the same message
}

// event is one on a container.
type event struct{ kind, reason, message string }

// newRecords makes the records of a pod, from what its status remembers of an earlier life.
func newRecords(pod *corev1.Pod) []*record {
	var rs []*record
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		side := podutil.IsRestartableInitContainer(c)
		rs = append(rs, &record{c: c, init: !side, side: side})
	}
	for i := range pod.Spec.Containers {
		rs = append(rs, &record{c: &pod.Spec.Containers[i]})
	}
	for _, r := range rs {
		s, known := podutil.GetContainerStatus(pod.Status.ContainerStatuses, r.c.Name)
		if r.init || r.side {
			s, known = podutil.GetContainerStatus(pod.Status.InitContainerStatuses, r.c.Name)
		}
		if known {
			r.remember(s)
		}
	}
	return rs
}

// remember takes over what is known from an earlier life of the node. Init containers run again:
// what they made is gone.
func (r *record) remember(s corev1.ContainerStatus) {
	r.restarts, r.last = s.RestartCount, s.LastTerminationState.Terminated
	switch {
	case s.State.Terminated == nil:
	case r.init || r.side:
		r.last = s.State.Terminated
		r.restarts++
	default:
		r.state, r.term = exited, s.State.Terminated
		r.id = strings.TrimPrefix(s.ContainerID, podruntime.Scheme+"://")
	}
}

// launched notes that a run has begun.
func (r *record) launched(run *run, at time.Time) {
	if r.term != nil {
		r.restarts++
		r.last, r.term = r.term, nil
	}
	r.state, r.why, r.pull, r.tries, r.stop = running, nil, pull{}, 0, nil
	r.run, r.id, r.since = run, run.id, at
	r.started, r.ready = false, false
}

// ended notes that a run is over and sets the delay of the next one: none for the first restart,
// then 10 s, doubling up to 5 min, from the start again after 10 min without trouble.
func (r *record) ended(term *corev1.ContainerStateTerminated) {
	r.state, r.term = exited, term
	r.started, r.ready = false, false
	at := term.FinishedAt.Time
	if at.Sub(r.since) > 2*maxBackOff {
		r.backOff = 0
	}
	r.next = at.Add(r.backOff)
	r.backOff = min(max(firstBackOff, 2*r.backOff), maxBackOff)
}

// failed notes that a start did not come about.
func (r *record) failed(why *notStarted) {
	r.state, r.why = waiting, why
	r.tries++
	if why.reason == "" {
		r.why = nil
	}
	if r.term != nil {
		r.state = exited
	}
	r.next, r.never = why.again, why.again.IsZero()
}

// live says whether something of the container is running or about to.
func (r *record) live() bool { return r.state == starting || r.state == running }

// shouldRestart says whether policy wants another run after an end.
func (r *record) shouldRestart(pod *corev1.Pod) bool {
	return podutil.ContainerShouldRestart(*r.c, pod.Spec, r.term.ExitCode)
}

// backingOff says whether the container waits for its restart.
func (r *record) backingOff(pod *corev1.Pod, now time.Time) bool {
	return r.state == exited && r.shouldRestart(pod) && now.Before(r.next)
}

// status is the container's in the API's words. In a pod that is ending nothing waits for a
// restart.
func (r *record) status(pod *corev1.Pod, ending bool, now time.Time) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: r.c.Name, RestartCount: r.restarts, Ready: r.ready && !r.init, Started: ptr.To(r.started)}
	if r.id != "" {
		s.ContainerID = containerID(r.id)
	}
	s.LastTerminationState.Terminated = r.last
	switch {
	case r.state == running:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(r.since)}
	case r.term != nil && !ending && (r.why != nil || r.backingOff(pod, now)):
		s.LastTerminationState.Terminated = r.term
		s.State.Waiting = r.waiting(pod)
	case r.term != nil:
		s.State.Terminated = r.term
		s.Ready = r.init && r.term.ExitCode == 0
	case r.why != nil:
		s.State.Waiting = r.waiting(pod)
	}
	return s
}

func (r *record) waiting(pod *corev1.Pod) *corev1.ContainerStateWaiting {
	if r.why != nil {
		return &corev1.ContainerStateWaiting{Reason: r.why.reason, Message: r.why.message}
	}
	delay := r.next.Sub(r.term.FinishedAt.Time)
	return &corev1.ContainerStateWaiting{
		Reason:  "CrashLoopBackOff",
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", delay, r.c.Name, format.Pod(pod)),
	}
}

func containerID(id string) string { return podruntime.Scheme + "://" + id }
