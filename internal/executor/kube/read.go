package kube

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// Read says how an attempt is whose pod is like this. It looks at nothing else: whether a deletion was
// Berth's own, what was seen before and what time it is are for others to consider.
func Read(pod *corev1.Pod) run.Observation {
	step := stepStatus(pod)
	o := run.Observation{
		Ref:         refOf(pod),
		ID:          string(pod.UID),
		Fence:       fenceOf(pod),
		Node:        pod.Spec.NodeName,
		StartedAt:   startedAt(step),
		DeletionAt:  deletionAt(pod),
		SilentSince: silentSince(pod, step),
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
		o.ScheduledAt = c.LastTransitionTime.UTC()
	}
	switch end := ended(pod, step); {
	case end != nil:
		o.Phase, o.End = run.PhaseEnded, end
	case step != nil && step.State.Running != nil:
		o.Phase = run.PhaseRunning
	default:
		o.Phase = run.PhaseWaiting
		o.Waiting, o.Clock = waiting(pod)
	}
	return o
}

// refOf is the attempt that the pod's labels name. One that names none is the zero Ref.
func refOf(pod *corev1.Pod) run.Ref {
	n, err := strconv.Atoi(pod.Labels[plan.LabelAttempt])
	if err != nil || n < 1 || pod.Labels[plan.LabelRun] == "" || pod.Labels[plan.LabelStep] == "" {
		return run.Ref{}
	}
	return run.Ref{Run: pod.Labels[plan.LabelRun], Step: pod.Labels[plan.LabelStep], Attempt: n}
}

func fenceOf(pod *corev1.Pod) int64 {
	n, _ := strconv.ParseInt(pod.Annotations[plan.AnnotationFence], 10, 64)
	return n
}

// stepStatus is the status of the step's own container; nil while there is none.
func stepStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == plan.StepContainer {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}

// startedAt is when the step's container started; zero if nothing says that it did. A runtime that could
// not start a command says 1970.
func startedAt(step *corev1.ContainerStatus) time.Time {
	if step == nil {
		return time.Time{}
	}
	var at metav1.Time
	switch {
	case step.State.Running != nil:
		at = step.State.Running.StartedAt
	case step.State.Terminated != nil:
		at = step.State.Terminated.StartedAt
	case step.LastTerminationState.Terminated != nil: // a kubelet that lost the container says that it waits
		at = step.LastTerminationState.Terminated.StartedAt
	}
	return known(at)
}

// known is the time in UTC, and zero if there is none.
func known(at metav1.Time) time.Time {
	if at.Unix() <= 0 {
		return time.Time{}
	}
	return at.UTC()
}

// deletionAt is when someone asked for the pod's deletion: what the API server stores is when its grace is
// over.
func deletionAt(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	at := pod.DeletionTimestamp.UTC()
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	return at
}

// silentSince is since when the pod's node says nothing. When a node stops reporting, the node controller
// makes its pods not ready, and nobody else does so while all their containers are.
func silentSince(pod *corev1.Pod, step *corev1.ContainerStatus) time.Time {
	ready, containers := condition(pod, corev1.PodReady), condition(pod, corev1.ContainersReady)
	switch {
	case step == nil || step.State.Running == nil || ready == nil || ready.Status == corev1.ConditionTrue:
	case pod.Status.Phase == corev1.PodUnknown,
		containers != nil && containers.Status == corev1.ConditionTrue && ready.Reason != "ReadinessGatesNotReady":
		return known(ready.LastTransitionTime)
	}
	return time.Time{}
}

func condition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
