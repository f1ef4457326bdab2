package podstatus

import (
	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/util/parsers"
	"k8s.io/utils/ptr"
)

// The reasons of a container that waits for nothing in particular.
const (
	ContainerCreating = "ContainerCreating"
	PodInitializing   = "PodInitializing"
)

// complete gives each container its status, in the order of the pod, with all that follows from
// the pod alone. A container of which the runtime says nothing has the status of one that waits.
func complete(pod *corev1.Pod, specs []corev1.Container, reported []corev1.ContainerStatus) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range specs {
		c := &specs[i]
		s, _ := podutil.GetContainerStatus(reported, c.Name)
		s = *s.DeepCopy()
		s.Name, s.Image, s.VolumeMounts = c.Name, c.Image, volumeMounts(c)
		s.Started = ptr.To(ptr.Deref(s.Started, false) && s.State.Running != nil)
		if s.State == (corev1.ContainerState{}) {
			s.State.Waiting = defaultWaiting(pod)
		}
		if s.ContainerID != "" {
			s.Image = fullName(c.Image)
			s.Resources, s.AllocatedResources = c.Resources.DeepCopy(), c.Resources.Requests.DeepCopy()
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// fullName is an image's name as a container runtime knows it.
func fullName(image string) string {
	repository, tag, digest, err := parsers.ParseImageName(image)
	switch {
	case err != nil:
		return image
	case digest != "":
		return repository + "@" + digest
	}
	return repository + ":" + tag
}

func defaultWaiting(pod *corev1.Pod) *corev1.ContainerStateWaiting {
	if len(pod.Spec.InitContainers) > 0 {
		return &corev1.ContainerStateWaiting{Reason: PodInitializing}
	}
	return &corev1.ContainerStateWaiting{Reason: ContainerCreating}
}

func volumeMounts(c *corev1.Container) []corev1.VolumeMountStatus {
	var mounts []corev1.VolumeMountStatus
	for _, m := range c.VolumeMounts {
		s := corev1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			s.RecursiveReadOnly = ptr.To(corev1.RecursiveReadOnlyDisabled)
		}
		mounts = append(mounts, s)
	}
	return mounts
}

// loseUnstarted turns the containers of an ended pod that have no end of their own into failed
// ones. Containers that the pod never came to, because it did not get through its init
// containers, stay waiting.
func loseUnstarted(pod *corev1.Pod, s *corev1.PodStatus) {
	if initialized(pod, s) {
		for i := range s.ContainerStatuses {
			lose(&s.ContainerStatuses[i])
		}
	}
	for i := range begun(s.InitContainerStatuses) {
		lose(&s.InitContainerStatuses[i])
	}
}

func lose(s *corev1.ContainerStatus) {
	if s.State.Terminated != nil {
		return
	}
	s.State = corev1.ContainerState{Terminated: unknownEnd("The container could not be located when the pod was terminated")}
	s.Started, s.Ready = ptr.To(false), false
}

func unknownEnd(message string) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: 137, Reason: kubecontainer.ContainerReasonStatusUnknown, Message: message}
}

// initialized says whether a pod came as far as its main containers.
func initialized(pod *corev1.Pod, s *corev1.PodStatus) bool {
	n := len(pod.Spec.InitContainers)
	if n == 0 {
		return true
	}
	for _, c := range s.ContainerStatuses {
		if c.State.Waiting == nil || c.LastTerminationState.Terminated != nil {
			return true
		}
	}
	last := s.InitContainerStatuses[n-1]
	if podutil.IsRestartableInitContainer(&pod.Spec.InitContainers[n-1]) {
		return last.State.Running != nil && ptr.Deref(last.Started, false)
	}
	end := lastEnd(last)
	return end != nil && end.ExitCode == 0
}

// begun is the prefix of the init containers up to the last one that ever started, and at least
// the first.
func begun(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i := len(statuses) - 1; i >= 0; i-- {
		if statuses[i].State.Waiting == nil || statuses[i].LastTerminationState.Terminated != nil {
			return statuses[:i+1]
		}
	}
	return statuses[:min(1, len(statuses))]
}

// Lost is the status of a pod whose node lost its memory (a reboot, a power cut): containers that
// were running then have ended, nobody knows how. It reports whether any container had run.
func Lost(pod *corev1.Pod) (corev1.PodStatus, bool) {
	s, ran := *pod.Status.DeepCopy(), false
	for _, statuses := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			ran = ran || c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
			if c.State.Running == nil {
				continue
			}
			c.State = corev1.ContainerState{Waiting: defaultWaiting(pod)}
			c.LastTerminationState.Terminated = unknownEnd("The container could not be located when the pod was deleted.  The container used to be Running")
			c.ContainerID, c.Started, c.Ready = "", ptr.To(false), false
			if pod.DeletionTimestamp == nil {
				c.RestartCount++
			}
		}
	}
	return s, ran
}
