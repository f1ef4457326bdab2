package kube

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// ended says how the step ended; nil while its container may still do something. The step's container
// decides, whatever the pod's phase: a sidecar of someone else's may outlive it. What was done to the pod
// from outside comes before what the container says of itself, since a command that traps SIGTERM exits
// with 0. First match wins.
func ended(pod *corev1.Pod, step *corev1.ContainerStatus) *run.End {
	phase := pod.Status.Phase
	over := phase == corev1.PodFailed || phase == corev1.PodSucceeded
	var t *corev1.ContainerStateTerminated
	if step != nil {
		t = step.State.Terminated
	}
	if !over && t == nil {
		return invalidImage(pod)
	}
	started := hasRun(step)
	end := ending{End: &run.End{}}
	if t != nil {
		end.FinishedAt = known(t.FinishedAt)
		if ranItself(t) {
			end.ExitCode = new(int(t.ExitCode))
			end.Output, end.Cut = t.Message, len(t.Message) >= outputBound(pod)
		}
	}
	switch {
	case pod.Status.Reason == "DeadlineExceeded":
		end.is(started, run.Timeout, reason.DeadlineExceeded, pod.Status.Message)
	case pod.Status.Reason == "Evicted":
		end.is(started, run.Lost, reason.Evicted, pod.Status.Message)
	case t != nil && t.Reason == "OOMKilled":
		end.is(true, run.OOM, reason.OOMKilled, "the step's container was killed, since it needed more memory than its limit")
	case disrupted(pod, t) != nil:
		c := disrupted(pod, t)
		end.is(started, run.Lost, disruption(pod, c), either(c.Message, pod.Status.Message))
	case shutDown(pod):
		end.is(started, run.Lost, reason.NodeShutdown, pod.Status.Message)
	case t != nil && t.Reason == statusUnknown:
		end.is(started, run.Lost, reason.Vanished, either(t.Message, t.Reason))
	case t != nil:
		end.exited(t)
	case started:
		end.is(true, run.Lost, reason.Vanished, either(pod.Status.Message, fmt.Sprintf("the pod is %s, and its node has not said how the step's container ended", phase)))
	case phase == corev1.PodSucceeded:
		end.is(true, run.Lost, reason.Vanished, "the pod succeeded, and its status lacks the step's container")
	default:
		end.neverStarted(pod)
	}
	return end.End
}

// ending is an End that is being put together.
type ending struct{ *run.End }

// is sets the outcome. What ends a container that never started is never_started, whatever it is.
func (e ending) is(started bool, class run.Class, code reason.Code, message string) {
	if !started {
		class = run.NeverStarted
	}
	e.Class, e.Reason, e.Message = class, code, message
}

// exited takes the container's own word for it.
func (e ending) exited(t *corev1.ContainerStateTerminated) {
	switch {
	case !ranItself(t):
		e.is(true, run.Failure, reason.StartError, either(t.Message, t.Reason))
	case t.ExitCode == 0:
		e.is(true, run.Success, reason.Completed, "")
	case t.ExitCode > 128:
		e.is(true, run.Failure, reason.ExitCode, fmt.Sprintf("exit code %d, as after signal %d", t.ExitCode, t.ExitCode-128))
	default:
		e.is(true, run.Failure, reason.ExitCode, fmt.Sprintf("exit code %d", t.ExitCode))
	}
}

// hasRun says whether the step's container has started, even if nothing says when: a kubelet that lost a
// container forgets that, and says ContainerStatusUnknown of one that ran, which had an ID, and of one that
// never did alike. What has run must not be run again as if it had not.
func hasRun(step *corev1.ContainerStatus) bool {
	switch {
	case step == nil:
		return false
	case !startedAt(step).IsZero(), step.LastTerminationState.Terminated != nil:
		return true
	}
	t := step.State.Terminated
	return t != nil && ranItself(t) || t != nil && t.Reason == statusUnknown && (step.ContainerID != "" || t.ContainerID != "")
}

// statusUnknown is the kubelet's reason for a container that it can't find.
const statusUnknown = "ContainerStatusUnknown"

// ranItself says whether the exit code and the message are those of the step's command, and not of a
// runtime that could not start it or a kubelet that does not know.
func ranItself(t *corev1.ContainerStateTerminated) bool {
	return t.Reason != "StartError" && t.Reason != "ContainerCannotRun" && t.Reason != statusUnknown
}

// neverStarted looks for what kept the step's container from starting.
func (e ending) neverStarted(pod *corev1.Pod) {
	if pod.Status.Reason != "" { // a kubelet that does not admit a pod gives a reason: OutOfcpu, NodeAffinity, ...
		e.is(false, run.NeverStarted, reason.KubeletRefused, said(pod))
		return
	}
	for _, s := range pod.Status.InitContainerStatuses {
		t := s.State.Terminated
		if t == nil || t.ExitCode == 0 && t.Reason != "StartError" {
			continue
		}
		code := reason.InitFailed
		if service(pod, s.Name) {
			code = reason.ServiceFailed
		}
		message := fmt.Sprintf("%s ended with exit code %d (%s)", container(s.Name), t.ExitCode, t.Reason)
		if t.Message != "" {
			message += ": " + t.Message
		}
		e.is(false, run.NeverStarted, code, message)
		return
	}
	e.is(false, run.NeverStarted, reason.KubeletRefused, either(pod.Status.Message, "the pod failed before the step's container had started"))
}

// said is the pod's reason with its message.
func said(pod *corev1.Pod) string {
	if pod.Status.Message == "" {
		return pod.Status.Reason
	}
	return pod.Status.Reason + ": " + pod.Status.Message
}

// disrupted gives the condition that says that the pod was ended from outside, unless its step had ended
// before that.
func disrupted(pod *corev1.Pod, t *corev1.ContainerStateTerminated) *corev1.PodCondition {
	c := condition(pod, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue {
		return nil
	}
	if t != nil && !known(t.FinishedAt).IsZero() && t.FinishedAt.Time.Before(c.LastTransitionTime.Time) {
		return nil
	}
	return c
}

// disruption is what a disruption is called, by who caused it.
func disruption(pod *corev1.Pod, c *corev1.PodCondition) reason.Code {
	switch c.Reason {
	case corev1.PodReasonPreemptionByScheduler:
		return reason.Preempted
	case "EvictionByEvictionAPI":
		return reason.EvictionAPI
	case "DeletionByTaintManager":
		return reason.DeletedByTaint
	case "DeletionByPodGC":
		return reason.PodGC
	case corev1.PodReasonTerminationByKubelet:
		switch {
		case shutDown(pod):
			return reason.NodeShutdown
		case pod.Status.Reason == "Preempting":
			return reason.Preempted
		}
	}
	return reason.Evicted
}

// shutDown says whether the kubelet ended the pod since its node was shut down.
func shutDown(pod *corev1.Pod) bool {
	return pod.Status.Reason == "Terminated" || pod.Status.Reason == "Shutdown" || pod.Status.Reason == "NodeShutdown"
}

// invalidImage is the end of a pod that the kubelet will wait with for ever: its images can't be changed
// into valid references.
func invalidImage(pod *corev1.Pod) *run.End {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range statuses {
			if w := s.State.Waiting; w != nil && w.Reason == "InvalidImageName" {
				return &run.End{Outcome: run.Outcome{Class: run.NeverStarted, Reason: reason.ImageInvalid, Final: true,
					Message: container(s.Name) + ": " + either(w.Message, w.Reason)}}
			}
		}
	}
	return nil
}

// outputBound is how many bytes of a termination message the kubelet keeps, the last ones (kubelet:
// MaxContainerTerminationMessageLength, MaxPodTerminationMessageLogLength).
func outputBound(pod *corev1.Pod) int {
	return min(4096, 12288/max(1, len(pod.Spec.InitContainers)+len(pod.Spec.Containers)))
}
