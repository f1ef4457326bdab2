package podstatus

import (
	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// tally counts containers by what they mean for the phase.
type tally struct {
	pendingInit    int // init containers that are still to end, and sidecars still to start
	pendingSidecar int
	failedInit     int // init containers that failed for good
	unknown        int
	running        int
	waiting        int // not started yet
	stopped        int // ended, or between two runs
	final          int // of stopped: not to be restarted
	succeeded      int // of stopped: with exit code 0
}

// Phase is the phase that follows from the states of the containers. ended says that nothing will
// be restarted, whatever the restart policy.
func Phase(pod *corev1.Pod, statuses []corev1.ContainerStatus, ended bool) corev1.PodPhase {
	t := count(pod, statuses)
	initialized := hasRun(pod, statuses)
	switch {
	case t.failedInit > 0:
		return corev1.PodFailed
	case t.pendingInit > 0, t.pendingSidecar > 0 && !initialized, t.waiting > 0:
		return corev1.PodPending
	case t.running > 0 && t.unknown == 0:
		return corev1.PodRunning
	case t.running == 0 && t.stopped > 0 && t.unknown == 0:
		switch {
		case !ended && t.final < t.stopped:
			return corev1.PodRunning // between two runs
		case t.stopped == t.succeeded:
			return corev1.PodSucceeded
		default:
			return corev1.PodFailed
		}
	}
	return corev1.PodPending
}

func count(pod *corev1.Pod, statuses []corev1.ContainerStatus) tally {
	var t tally
	for _, c := range pod.Spec.InitContainers {
		s, known := podutil.GetContainerStatus(statuses, c.Name)
		if podutil.IsRestartableInitContainer(&c) {
			t.addSidecar(s, known)
		} else {
			t.addInit(pod, c, s, known)
		}
	}
	for _, c := range pod.Spec.Containers {
		s, known := podutil.GetContainerStatus(statuses, c.Name)
		t.addMain(pod, c, s, known)
	}
	return t
}

func (t *tally) addInit(pod *corev1.Pod, c corev1.Container, s corev1.ContainerStatus, known bool) {
	end := lastEnd(s)
	switch {
	case !known, s.State.Running != nil, end == nil:
		t.pendingInit++
	case end.ExitCode != 0 && !podutil.ContainerShouldRestart(c, pod.Spec, end.ExitCode):
		t.failedInit++
	}
}

func (t *tally) addSidecar(s corev1.ContainerStatus, known bool) {
	switch {
	case !known:
		t.unknown++
	case s.State.Running != nil:
		t.running++
		if s.Started == nil || !*s.Started {
			t.pendingSidecar++
		}
	case lastEnd(s) != nil:
		// An ended sidecar does not count: not its end, and not its exit code.
	case s.State.Waiting != nil:
		t.pendingSidecar++
		t.waiting++
	default:
		t.pendingSidecar++
		t.unknown++
	}
}

func (t *tally) addMain(pod *corev1.Pod, c corev1.Container, s corev1.ContainerStatus, known bool) {
	end := lastEnd(s)
	switch {
	case !known:
		t.unknown++
	case s.State.Running != nil:
		t.running++
	case end != nil:
		t.stopped++
		if !podutil.ContainerShouldRestart(c, pod.Spec, end.ExitCode) {
			t.final++
		}
		// Only an end that stands counts as success, not one before a restart that is awaited.
		if s.State.Terminated != nil && end.ExitCode == 0 {
			t.succeeded++
		}
	case s.State.Waiting != nil:
		t.waiting++
	default:
		t.unknown++
	}
}

// lastEnd is how a container that does not run ended, nil if it never did.
func lastEnd(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	switch {
	case s.State.Terminated != nil:
		return s.State.Terminated
	case s.State.Waiting != nil:
		return s.LastTerminationState.Terminated
	}
	return nil
}

// hasRun says whether any container other than the init containers has started.
func hasRun(pod *corev1.Pod, statuses []corev1.ContainerStatus) bool {
	for _, c := range pod.Spec.Containers {
		if s, ok := podutil.GetContainerStatus(statuses, c.Name); ok && (s.State.Running != nil || lastEnd(s) != nil) {
			return true
		}
	}
	return false
}
