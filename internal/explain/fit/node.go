package fit

import (
	corev1 "k8s.io/api/core/v1"
)

// Node gives every reason why the pod can't run on the node by what both are: the node's name, taints,
// labels and size against the pod's tolerations, selectors, required node affinity and requests. What else
// runs on the node, volumes and other pods' rules are not looked at, and of what the node does not tell
// nothing is concluded: while its status has no allocatable resources, requests are no reason. (The
// scheduler, which sees a node in that state for moments, takes it for one of size zero.)
func Node(spec *corev1.PodSpec, of *corev1.Node) []Reason {
	q := &question{&Snapshot{index: &index{}}, &corev1.Pod{Spec: *spec}, false}
	plugins := []func(*question) filter{nodeName, taints, nodeLabels}
	if len(of.Status.Allocatable) > 0 {
		plugins = append(plugins, resources)
	}
	n := &node{Node: of, room: allocatable(of)}
	var v Verdict
	for _, plugin := range plugins {
		if f := plugin(q); f != nil {
			f(n, &v)
		}
	}
	return v.Reasons
}
