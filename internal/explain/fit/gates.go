package fit

import "fmt"

// gates holds the pod on every node alike: while it has gates the scheduler does not look for one.
func gates(q *question) filter {
	if len(q.pod.Spec.SchedulingGates) == 0 {
		return nil
	}
	return func(_ *node, v *Verdict) {
		for i, g := range q.pod.Spec.SchedulingGates {
			v.add(Reason{Kind: Gate, Plugin: PluginGates, Path: fmt.Sprintf("spec.schedulingGates[%d]", i), Name: g.Name,
				Words: "Scheduling is blocked due to non-empty scheduling gates", stage: gated})
		}
	}
}

// nodeName is for pods that name their node, which no scheduler looks at.
func nodeName(q *question) filter {
	name := q.pod.Spec.NodeName
	if name == "" || q.bound {
		return nil
	}
	return func(n *node, v *Verdict) {
		if n.Name != name {
			v.add(Reason{Kind: NodeName, Plugin: PluginNodeName, Path: "spec.nodeName", Name: name, Words: "node(s) didn't match the requested node name"})
		}
	}
}
