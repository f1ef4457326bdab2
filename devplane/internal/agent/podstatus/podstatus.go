// Package podstatus turns what a runtime knows of a pod's containers into the status that the
// kubelet would write: phase, conditions and container statuses.
//
// All functions are pure: they write to none of their arguments, and the time is an argument.
// The authority for each rule is the kubelet of the version in go.mod; the conditions are computed
// by its own code.
package podstatus

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	kubestatus "k8s.io/kubernetes/pkg/kubelet/status"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// Input is what a status follows from, beside the pod.
type Input struct {
	States podruntime.States
	// Ended says that nothing of the pod runs any more and nothing will: containers that did not
	// start count as lost, and the phase becomes terminal.
	Ended bool
	// Failure, if set, is why the pod failed, whatever its containers did; it shows when Ended.
	Failure *Failure
	// Address is that of the node, and of all its pods.
	Address string
	// Started is when the node first saw the pod; it counts unless the pod's status knows better.
	Started time.Time
	Now     time.Time
}

// Failure is a phase Failed with its reason.
type Failure struct{ Reason, Message string }

// Of computes the whole status of a pod. What others wrote in pod.Status is kept: conditions that
// are not the kubelet's, claim statuses, a terminal phase.
func Of(pod *corev1.Pod, in Input) corev1.PodStatus {
	old := &pod.Status
	s := *old.DeepCopy()
	s.InitContainerStatuses = complete(pod, pod.Spec.InitContainers, in.States.InitContainers)
	s.ContainerStatuses = complete(pod, pod.Spec.Containers, in.States.Containers)
	slices.SortStableFunc(s.ContainerStatuses, func(a, b corev1.ContainerStatus) int { return cmp.Compare(a.Name, b.Name) })
	all := slices.Concat(s.InitContainerStatuses, s.ContainerStatuses)

	phase := Phase(pod, all, in.Ended)
	s.Reason, s.Message = "", ""
	switch {
	case podutil.IsPodPhaseTerminal(old.Phase):
		// Somebody has already decided how this pod ended; a terminal phase is final.
		phase, s.Reason, s.Message = old.Phase, old.Reason, old.Message
	case !in.Ended && podutil.IsPodPhaseTerminal(phase):
		// What still runs (a sidecar) is about to be stopped; the phase has to wait for it.
		phase, s.Reason, s.Message = cmp.Or(old.Phase, corev1.PodPending), old.Reason, old.Message
	case in.Ended && in.Failure != nil:
		phase, s.Reason, s.Message = corev1.PodFailed, in.Failure.Reason, in.Failure.Message
	case phase == old.Phase:
		s.Reason, s.Message = old.Reason, old.Message
	}
	s.Phase = phase
	s.ObservedGeneration = podutil.CalculatePodStatusObservedGeneration(pod)
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: in.Started}
	}
	s.HostIP, s.HostIPs = in.Address, []corev1.HostIP{{IP: in.Address}}
	if in.States.Sandbox || len(s.PodIPs) > 0 {
		s.PodIP, s.PodIPs = in.Address, []corev1.PodIP{{IP: in.Address}}
	}
	s.Conditions = conditions(pod, &s, all, in)
	if in.Ended {
		// After the conditions, as in the kubelet: they tell why it did not come to an end of its own.
		loseUnstarted(pod, &s)
		if !podutil.IsPodPhaseTerminal(s.Phase) {
			s.Phase = corev1.PodFailed
		}
	}
	s.AllocatedResources = resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	s.Resources = &corev1.ResourceRequirements{
		Requests: s.AllocatedResources,
		Limits:   resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}),
	}
	truncate(pod, &s)
	return s
}

// Rejected is the status of a pod that the node does not admit.
func Rejected(pod *corev1.Pod, f Failure, now time.Time) corev1.PodStatus {
	s := *pod.Status.DeepCopy()
	s.Phase, s.Reason, s.Message = corev1.PodFailed, f.Reason, "Pod was rejected: "+f.Message
	s.ObservedGeneration = podutil.CalculatePodStatusObservedGeneration(pod)
	if s.StartTime == nil {
		s.StartTime = &metav1.Time{Time: now}
	}
	return s
}

// conditions are the kubelet's, in its order, after those of others.
func conditions(pod *corev1.Pod, s *corev1.PodStatus, all []corev1.ContainerStatus, in Input) []corev1.PodCondition {
	old := &pod.Status
	var cs []corev1.PodCondition
	for _, c := range old.Conditions {
		if !kubetypes.PodConditionByKubelet(c.Type) {
			cs = append(cs, c)
		}
	}
	cs = append(cs,
		sandboxCondition(pod, in),
		kubestatus.GeneratePodInitializedCondition(pod, old, all, s.Phase),
		kubestatus.GeneratePodReadyCondition(pod, old, cs, all, s.Phase),
		kubestatus.GenerateContainersReadyCondition(pod, old, all, s.Phase),
		corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionTrue,
			ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(old, pod.Generation, corev1.PodScheduled),
		})
	for i := range cs {
		if !kubetypes.PodConditionByKubelet(cs[i].Type) {
			continue
		}
		cs[i].LastTransitionTime = metav1.NewTime(in.Now)
		if _, o := podutil.GetPodConditionFromList(old.Conditions, cs[i].Type); o != nil && o.Status == cs[i].Status {
			cs[i].LastTransitionTime = o.LastTransitionTime
		}
	}
	return cs
}

func sandboxCondition(pod *corev1.Pod, in Input) corev1.PodCondition {
	c := corev1.PodCondition{
		Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue,
		ObservedGeneration: podutil.CalculatePodConditionObservedGeneration(&pod.Status, pod.Generation, corev1.PodReadyToStartContainers),
	}
	if in.States.Sandbox && !in.Ended {
		return c
	}
	c.Status, c.Reason, c.Message = corev1.ConditionFalse, kubetypes.PodSandboxNotReadyReason, kubetypes.PodSandboxNotReadyMsgNoPodSandbox
	if in.States.Sandbox {
		c.Message = kubetypes.PodSandboxNotReadyMsgSandboxNotReady
	}
	return c
}

// truncate cuts termination messages so that those of all containers together stay in the limit.
func truncate(pod *corev1.Pod, s *corev1.PodStatus) {
	n := max(1, len(pod.Spec.InitContainers)+len(pod.Spec.Containers)+len(pod.Spec.EphemeralContainers))
	limit := kubecontainer.MaxPodTerminationMessageLogLength / n
	for _, statuses := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range statuses {
			for _, t := range []*corev1.ContainerStateTerminated{statuses[i].State.Terminated, statuses[i].LastTerminationState.Terminated} {
				if t != nil && len(t.Message) > limit {
					t.Message = t.Message[:limit]
				}
			}
		}
	}
}
