package fit

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

const (
	selectorPath     = "spec.nodeSelector"
	nodeAffinityPath = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
)

// nodeLabels finds the labels and fields that the pod wants in vain.
func nodeLabels(q *question) filter {
	affinity := requiredAffinity(q.pod)
	if len(q.pod.Spec.NodeSelector) == 0 && affinity == nil {
		return nil
	}
	required := nodeaffinity.GetRequiredNodeAffinity(q.pod)
	keys := slices.Sorted(maps.Keys(q.pod.Spec.NodeSelector))
	return func(n *node, v *Verdict) {
		// An invalid term matches nothing, and the scheduler goes on with the others.
		if matches, _ := required.Match(n.Node); matches {
			return
		}
		for _, key := range keys {
			if r, unmet := selects(q.pod, key, n.Node); unmet {
				v.add(r)
			}
		}
		if affinity != nil {
			if r, unmet := affinity.on(n.Node); unmet {
				v.add(r)
			}
		}
	}
}

const wrongLabels = "node(s) didn't match Pod's node affinity/selector"

// selects holds one label of nodeSelector against the node.
func selects(pod *corev1.Pod, key string, node *corev1.Node) (Reason, bool) {
	wanted := pod.Spec.NodeSelector[key]
	has, there := node.Labels[key]
	if there && has == wanted {
		return Reason{}, false
	}
	r := Reason{Kind: NodeSelector, Plugin: PluginNodeAffinity, Path: field(selectorPath, key), Words: wrongLabels,
		Label: &Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{wanted}, Has: has, There: there}}
	if key == corev1.LabelHostname {
		r.Kind, r.Name = NodeName, wanted
	}
	return r, true
}
