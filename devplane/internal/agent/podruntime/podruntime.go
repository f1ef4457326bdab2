// Package podruntime is the contract between a virtual node and what runs its pods.
//
// The node owns everything that a pod means to the API: admission, the written status,
// deadlines, deletion. A runtime owns what a pod means on the machine: it makes containers run,
// and tells their states in the API's own words. It knows no API server.
package podruntime

import (
	"context"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Runtime runs the pods of one node. All methods may be called concurrently.
type Runtime interface {
	// Refuse names each field of the pod that the runtime can't honour, with the reason, all of
	// them at once; none means that the pod can run. It is a pure function, called before Run.
	Refuse(pod *corev1.Pod) []string

	// Run runs a pod until nothing of it is left running, then returns. It is called at most once
	// for each pod UID in the life of a Runtime. The pod is read-only. Its status says what is
	// known from an earlier life of the node: a container that is terminated there, and need not
	// be restarted, is not run again, and restart counts go on from there.
	//
	// Before Run returns it reports the last states with ctl.Report. While ctl.Stopping is not
	// closed it returns only when the pod has ended by itself. From then on nothing new is
	// started, and what runs is asked to end and, when ctl.Killing is closed, made to.
	//
	// A cancelled ctx is a power cut: everything is killed at once, without a last word, and what
	// is reported from then on is ignored. Nothing of the pod runs when Run returns, however it
	// returns.
	Run(ctx context.Context, pod *corev1.Pod, ctl *Control)

	// Logs writes a container's log as the options say, and follows it if they say so until the
	// container ends or ctx is done. The id is that of ContainerStatus.ContainerID without its
	// scheme. A nil writer discards its stream.
	Logs(ctx context.Context, pod *corev1.Pod, container, id string, opts *corev1.PodLogOptions, stdout, stderr io.Writer) error

	// Forget removes what is kept of a pod after its end (its logs). It is called when the pod is
	// gone from the API and Run has returned.
	Forget(uid types.UID)

	// Sweep removes what is kept of all pods but these, which is what an earlier process left.
	Sweep(keep map[types.UID]bool)
}

// Scheme is the scheme of each runtime's container IDs, as in "process://1234".
const Scheme = "process"

// States is what a runtime reports of a pod. Ready, Started, State, LastTerminationState,
// RestartCount and ContainerID of the statuses are the runtime's; the rest is filled in later.
type States struct {
	// Sandbox is true from the moment when containers can be started (volumes are there) until
	// the end.
	Sandbox        bool
	InitContainers []corev1.ContainerStatus
	Containers     []corev1.ContainerStatus
}

// Control is how a node and the run of one pod talk. The node makes it with NewControl.
type Control struct {
	// Report hands over the newest states; it replaces what was not used yet and never blocks.
	Report func(States)
	// Event records an event on a container of the pod, or on the pod if the container is nil.
	Event func(container *corev1.Container, eventType, reason, message string)

	stop stopper
}

// NewControl makes a Control. Both functions must be safe for concurrent use.
func NewControl(report func(States), event func(*corev1.Container, string, string, string)) *Control {
	return &Control{Report: report, Event: event, stop: stopper{stopping: make(chan struct{}), killing: make(chan struct{})}}
}

// Stop asks the run to end and gives it until now+grace. It may be called again: the deadline
// only ever comes nearer.
func (c *Control) Stop(grace time.Duration) { c.stop.stop(grace) }

// Stopping is closed by the first Stop.
func (c *Control) Stopping() <-chan struct{} { return c.stop.stopping }

// Killing is closed when the grace period is over.
func (c *Control) Killing() <-chan struct{} { return c.stop.killing }

// Grace is what is left of the grace period, 0 when it is over or was not given.
func (c *Control) Grace() time.Duration { return c.stop.left() }

// Release frees the timer of a run that is over.
func (c *Control) Release() { c.stop.release() }

// stopper is a deadline that can be moved nearer.
type stopper struct {
	mu       sync.Mutex
	stopping chan struct{}
	killing  chan struct{}
	deadline time.Time
	timer    *time.Timer // nil before the first stop
	killed   bool
}

func (s *stopper) stop(grace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Now().Add(max(grace, 0))
	if s.timer == nil {
		close(s.stopping)
		s.deadline, s.timer = at, time.AfterFunc(max(grace, 0), s.kill)
		return
	}
	if at.Before(s.deadline) {
		s.deadline = at
		s.timer.Reset(max(grace, 0))
	}
}

func (s *stopper) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.killed {
		s.killed = true
		close(s.killing)
	}
}

func (s *stopper) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		return 0
	}
	return max(time.Until(s.deadline), 0)
}

func (s *stopper) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
