// Package scale pretends to run pods, for benchmarks: a pod's containers are said to run, and to
// have succeeded after a set time. Nothing is executed and a pod costs a goroutine and a timer.
//
// Its promises: a pod with restart policy Always runs until it is deleted; a deleted pod ends at
// once with exit code 143; init containers have always succeeded already; every log is one line.
package scale

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// Runtime implements podruntime.Runtime.
type Runtime struct{ runFor time.Duration }

var _ podruntime.Runtime = Runtime{}

// New makes the runtime of a node whose pods run for this long.
func New(runFor time.Duration) Runtime { return Runtime{runFor} }

// Refuse implements podruntime.Runtime: what is not run can't be done wrong.
func (Runtime) Refuse(*corev1.Pod) []string { return nil }

// Run implements podruntime.Runtime.
func (r Runtime) Run(ctx context.Context, pod *corev1.Pod, ctl *podruntime.Control) {
	begun := time.Now()
	ctl.Report(states(pod, begun, nil))
	var timer <-chan time.Time
	if pod.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		t := time.NewTimer(r.runFor)
		defer t.Stop()
		timer = t.C
	}
	end := &corev1.ContainerStateTerminated{Reason: "Completed"}
	select {
	case <-ctx.Done():
		return
	case <-ctl.Stopping():
		end = &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 143}
	case <-timer:
	}
	end.StartedAt, end.FinishedAt = metav1.NewTime(begun), metav1.Now()
	ctl.Report(states(pod, begun, end))
}

// states are those of containers that run since begun, or have ended.
func states(pod *corev1.Pod, begun time.Time, end *corev1.ContainerStateTerminated) podruntime.States {
	s := podruntime.States{Sandbox: true}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		this := end
		if !podutil.IsRestartableInitContainer(c) {
			this = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: metav1.NewTime(begun), FinishedAt: metav1.NewTime(begun)}
		}
		status := status(pod, c.Name, begun, this)
		status.Ready = status.Ready || this != nil && this.ExitCode == 0 && !podutil.IsRestartableInitContainer(c)
		s.InitContainers = append(s.InitContainers, status)
	}
	for i := range pod.Spec.Containers {
		s.Containers = append(s.Containers, status(pod, pod.Spec.Containers[i].Name, begun, end))
	}
	return s
}

func status(pod *corev1.Pod, name string, begun time.Time, end *corev1.ContainerStateTerminated) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: name, Started: ptr.To(end == nil), Ready: end == nil,
		ContainerID: fmt.Sprintf("%s://%s-%s", podruntime.Scheme, pod.UID, name),
	}
	if old, ok := podutil.GetContainerStatus(pod.Status.ContainerStatuses, name); ok {
		s.RestartCount, s.LastTerminationState = old.RestartCount, old.LastTerminationState
	}
	if end == nil {
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(begun)}
		return s
	}
	s.State.Terminated = end.DeepCopy()
	s.State.Terminated.ContainerID = s.ContainerID
	return s
}

// Logs implements podruntime.Runtime. The one line is complete from the start, so there is nothing
// to follow.
func (Runtime) Logs(_ context.Context, pod *corev1.Pod, container, _ string, _ *corev1.PodLogOptions, stdout, _ io.Writer) error {
	if stdout == nil {
		return nil
	}
	_, err := fmt.Fprintf(stdout, "container %s of pod %s/%s is on a scale node, which runs nothing\n", container, pod.Namespace, pod.Name)
	return err
}

// Forget implements podruntime.Runtime: nothing is kept.
func (Runtime) Forget(types.UID) {}

// Sweep implements podruntime.Runtime.
func (Runtime) Sweep(map[types.UID]bool) {}
