package agent

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	schedulerframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
	"github.com/berthdev/berth/devplane/internal/agent/podstatus"
)

// NotSupported is the reason of a pod that the node's runtime refuses.
const NotSupported = "NotSupported"

// plan is what is to become of a pod that is seen for the first time in this life of the node.
type plan struct {
	// run is the pod to run, with a status that says what is remembered; nil if it is not run.
	run *corev1.Pod
	// rejection is why the pod is not admitted.
	rejection *podstatus.Failure
	// ended says that the pod has ended without this life's doing, with these states.
	ended  bool
	states podruntime.States
}

// planFor decides. It is called with n.mu held, so that pods are admitted one after the other.
func (n *node) planFor(pod *corev1.Pod) plan {
	status, ran := podstatus.Lost(pod)
	states := podruntime.States{Sandbox: ran, InitContainers: status.InitContainerStatuses, Containers: status.ContainerStatuses}
	all := append(append([]corev1.ContainerStatus(nil), states.InitContainers...), states.Containers...)
	switch {
	case podutil.IsPodPhaseTerminal(pod.Status.Phase), pod.DeletionTimestamp != nil:
		return plan{ended: true, states: states}
	case ran && podutil.IsPodPhaseTerminal(podstatus.Phase(pod, all, false)):
		return plan{ended: true, states: states}
	}
	if f := n.reject(pod); f != nil {
		return plan{rejection: f}
	}
	run := pod.DeepCopy()
	run.Status = status
	return plan{run: run}
}

// reject says why a pod can't be admitted: by the kubelet's own rules, with its own words, and by
// what the runtime can't do.
func (n *node) reject(pod *corev1.Pod) *podstatus.Failure {
	var others []*corev1.Pod
	for _, w := range n.workers {
		if w.usesNode() {
			others = append(others, w.plan.run)
		}
	}
	handler := lifecycle.NewPredicateAdmitHandler(
		n.admits,
		lifecycle.NewAdmissionFailureHandlerStub(),
		func(*schedulerframework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil },
	)
	result := handler.Admit(n.ctx, &lifecycle.PodAdmitAttributes{Pod: pod, OtherPods: others, Operation: lifecycle.AddOperation})
	if !result.Admit {
		return &podstatus.Failure{Reason: result.Reason, Message: result.Message}
	}
	if refused := n.runtime.Refuse(pod); len(refused) > 0 {
		return &podstatus.Failure{Reason: NotSupported, Message: "this node can't do: " + strings.Join(refused, "; ")}
	}
	return nil
}

// admits is the node that pods are admitted against. A copy: the handler may write to the labels. When they don't fit it
// asks for those that the node has in the API, which someone may have changed.
func (n *node) admits(ctx context.Context, cached bool) (*corev1.Node, error) {
	object := n.object.DeepCopy()
	if cached {
		return object, nil
	}
	live, err := n.live(ctx)
	if err != nil {
		return nil, err
	}
	object.Labels = live.Labels
	return object, nil
}
