package fit

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

// Node gives every reason why the pod can't run on the node; none if it can.
func Node(pod *corev1.PodSpec, node *corev1.Node) []Reason {
	var reasons []Reason
	if pod.NodeName != "" && pod.NodeName != node.Name {
		reasons = append(reasons, Reason{Kind: NodeName, Name: pod.NodeName})
	}
	reasons = append(reasons, taints(pod, node)...)
	reasons = append(reasons, selector(pod, node)...)
	reasons = append(reasons, affinity(pod, node)...)
	return append(reasons, resources(pod, node)...)
}

// taints gives what keeps pods off the node that tolerate nothing, and this one too.
func taints(pod *corev1.PodSpec, node *corev1.Node) []Reason {
	var reasons []Reason
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	cordoned := node.Spec.Unschedulable && !tolerates(pod, &cordon)
	if cordoned {
		reasons = append(reasons, Reason{Kind: Cordoned})
	}
	for i := range node.Spec.Taints {
		t := &node.Spec.Taints[i]
		switch {
		case t.Effect != corev1.TaintEffectNoSchedule && t.Effect != corev1.TaintEffectNoExecute:
		case cordoned && t.MatchTaint(&cordon) && t.Value == "":
			// The node controller's taint for the cordon: one fact, and one reason.
		case !tolerates(pod, t):
			reasons = append(reasons, Reason{Kind: Taint, Taint: corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}})
		}
	}
	return reasons
}

// tolerates says whether one of the pod's tolerations is for the taint. Those with Gt and Lt count:
// an API server that does not have them (the feature gate TaintTolerationComparisonOperators) has
// refused the pod.
func tolerates(pod *corev1.PodSpec, taint *corev1.Taint) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, pod.Tolerations, taint, true)
}

// selector gives the labels that nodeSelector asks for in vain.
func selector(pod *corev1.PodSpec, node *corev1.Node) []Reason {
	var reasons []Reason
	for _, key := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		wanted := pod.NodeSelector[key]
		if has, ok := node.Labels[key]; !ok || has != wanted {
			reasons = append(reasons, Reason{Kind: NodeSelector, Label: Requirement{Key: key, Operator: corev1.NodeSelectorOpIn,
				Values: []string{wanted}, Has: has, There: ok}})
		}
	}
	return reasons
}
