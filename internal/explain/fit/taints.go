package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
)

var cordonTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// taints finds what keeps pods off the node that tolerate nothing, and this one too.
func taints(q *question) filter {
	return func(n *node, v *Verdict) {
		cordoned := n.Spec.Unschedulable
		if cordoned {
			r := Reason{Kind: Cordoned, Plugin: PluginUnschedulable, Words: "node(s) were unschedulable",
				Other: &Ref{Kind: "Node", Name: n.Name, Path: "spec.unschedulable"}}
			if cordoned = !tolerates(q.pod, &cordonTaint); cordoned {
				v.add(r)
			} else {
				v.note(r)
			}
		}
		for i := range n.Spec.Taints {
			t := &n.Spec.Taints[i]
			switch {
			case !keepsOff(t):
			case cordoned && t.MatchTaint(&cordonTaint) && t.Value == "":
				// The node controller's taint for the cordon: one fact, and one reason.
			case !tolerates(q.pod, t):
				v.add(Reason{Kind: Taint, Plugin: PluginTaints, Words: "node(s) had untolerated taint(s)",
					Taint: t,
					Other: &Ref{Kind: "Node", Name: n.Name, Path: fmt.Sprintf("spec.taints[%d]", i)}})
			}
		}
	}
}

// tolerates says whether one of the pod's tolerations is for the taint. Those with Gt and Lt count:
// an API server that does not have them (the feature gate TaintTolerationComparisonOperators) has
// refused the pod.
func tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, taint, true)
}

// untolerated says whether a taint keeps the pod off the node. A cordon without its taint does not count.
func untolerated(pod *corev1.Pod, node *corev1.Node) bool {
	_, found := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, keepsOff, true)
	return found
}

func keepsOff(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}
