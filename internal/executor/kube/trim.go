package kube

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/plan"
)

// trim leaves of a pod what Read looks at, which is a small part of it. It writes to the pod.
func trim(pod *corev1.Pod) {
	pod.ObjectMeta = metav1.ObjectMeta{
		Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Labels: pod.Labels,
		DeletionTimestamp: pod.DeletionTimestamp, DeletionGracePeriodSeconds: pod.DeletionGracePeriodSeconds,
		Annotations: map[string]string{plan.AnnotationFence: pod.Annotations[plan.AnnotationFence]},
	}
	pod.Spec = corev1.PodSpec{
		NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates,
		InitContainers: trimContainers(pod.Spec.InitContainers), Containers: trimContainers(pod.Spec.Containers),
	}
	s := &pod.Status
	pod.Status = corev1.PodStatus{Phase: s.Phase, Reason: s.Reason, Message: s.Message, Conditions: s.Conditions,
		InitContainerStatuses: trimStatuses(s.InitContainerStatuses), ContainerStatuses: trimStatuses(s.ContainerStatuses)}
}

func trimContainers(all []corev1.Container) []corev1.Container {
	short := make([]corev1.Container, len(all))
	for i, c := range all {
		short[i] = corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy}
	}
	return short
}

func trimStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	short := make([]corev1.ContainerStatus, len(all))
	for i, s := range all {
		short[i] = corev1.ContainerStatus{Name: s.Name, ContainerID: s.ContainerID, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, Started: s.Started, RestartCount: s.RestartCount}
	}
	return short
}
