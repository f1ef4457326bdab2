package kube

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// waiting says why the step's container has not started, and which clock that is on. The first of these
// that is true: a gate, no node, what a container waits for, and what the node does in general.
func waiting(pod *corev1.Pod) (*run.Waiting, run.Clock) {
	scheduled := condition(pod, corev1.PodScheduled)
	switch {
	case scheduled != nil && scheduled.Reason == corev1.PodReasonSchedulingGated, len(pod.Spec.SchedulingGates) > 0 && pod.Spec.NodeName == "":
		return why(reason.Gated, "held by the scheduling gates %s", gates(pod)), run.NoClock
	case pod.Spec.NodeName != "":
		return onNode(pod)
	case scheduled != nil && scheduled.Status == corev1.ConditionFalse:
		return why(reason.Unschedulable, "%s", either(scheduled.Message, scheduled.Reason)), run.ClockSchedule
	}
	return why(reason.Unscheduled, "the scheduler has not looked at the pod yet"), run.ClockSchedule
}

func why(code reason.Code, format string, args ...any) *run.Waiting {
	return &run.Waiting{Reason: code, Message: fmt.Sprintf(format, args...)}
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func gates(pod *corev1.Pod) string {
	names := make([]string, len(pod.Spec.SchedulingGates))
	for i, g := range pod.Spec.SchedulingGates {
		names[i] = g.Name
	}
	return strings.Join(names, ", ")
}

// What kubelets say of a container that can't start now.
var (
	imageReasons  = []string{"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
	configReasons = []string{"CreateContainerConfigError", "CreateContainerError", "PreCreateHookError", "PreStartHookError"}
)

// onNode looks for the container that is in the way. All that is not a Secret or ConfigMap is on the clock
// of images: a volume that can't be mounted must not wait for ever, and a kubelet that pulls says no more
// than that it creates a container.
func onNode(pod *corev1.Pod) (*run.Waiting, run.Clock) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := s.State.Waiting
		if w == nil {
			continue
		}
		switch {
		case slices.Contains(imageReasons, w.Reason):
			return why(reason.ImagePull, "%s: %s", container(s.Name), pullMessage(w)), run.ClockImage
		case slices.Contains(configReasons, w.Reason):
			return why(reason.ContainerConfig, "%s: %s", container(s.Name), either(w.Message, w.Reason)), run.ClockConfig
		}
	}
	if ready := condition(pod, corev1.PodReadyToStartContainers); ready != nil && ready.Status == corev1.ConditionFalse {
		return why(reason.Volumes, "node %s is preparing the pod's volumes and network", pod.Spec.NodeName), run.ClockImage
	}
	if w := initializing(pod); w != nil {
		return w, run.NoClock
	}
	return why(reason.Starting, "node %s is starting the pod", pod.Spec.NodeName), run.ClockImage
}

// initializing names the first container that has begun and that the step's container waits for. The pod's
// own deadline bounds it.
func initializing(pod *corev1.Pod) *run.Waiting {
	for _, s := range pod.Status.InitContainerStatuses {
		last := s.LastTerminationState.Terminated
		switch {
		case service(pod, s.Name) && s.Started != nil && *s.Started && s.State.Running != nil:
		case s.State.Terminated != nil && s.State.Terminated.ExitCode == 0 && !service(pod, s.Name):
		case last != nil:
			return why(reason.Initializing, "%s ended with exit code %d and is started again", container(s.Name), last.ExitCode)
		case s.State.Running != nil && service(pod, s.Name):
			return why(reason.Initializing, "%s is not ready yet", container(s.Name))
		case s.State.Running != nil:
			return why(reason.Initializing, "%s has not finished", container(s.Name))
		default:
			return nil
		}
	}
	return nil
}

// service says whether a container is one that runs beside the step.
func service(pod *corev1.Pod, name string) bool {
	for _, c := range pod.Spec.InitContainers {
		if c.Name == name {
			return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

func container(name string) string {
	if name == plan.StepContainer {
		return "the step's container"
	}
	return "container " + name
}

// pullMessage leaves out what changes each time the kubelet pauses and tries again.
func pullMessage(w *corev1.ContainerStateWaiting) string {
	m := either(w.Message, w.Reason)
	if strings.HasPrefix(m, "Back-off pulling image ") {
		if _, rest, found := strings.Cut(m, ": ErrImagePull: "); found {
			return rest
		}
	}
	return m
}
