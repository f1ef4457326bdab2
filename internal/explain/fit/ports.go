package fit

import (
	"cmp"
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"
)

const everyAddress = "0.0.0.0"

// ports finds the ports of the machine that other pods on the node have.
func ports(q *question) filter {
	type wish struct {
		Port
		path string
	}
	var wishes []wish
	for path, p := range hostPorts(q.pod) {
		wishes = append(wishes, wish{p, path})
	}
	if len(wishes) == 0 {
		return nil
	}
	return func(n *node, v *Verdict) {
		for i := range wishes {
			w := &wishes[i]
			var h hits
			for c := range q.on(n) {
				for _, p := range hostPorts(c.Pod) {
					if w.conflicts(p) {
						h.add(c)
						break
					}
				}
			}
			if h.count > 0 {
				v.add(Reason{Kind: HostPort, Plugin: PluginPorts, Path: w.path, Words: "node(s) didn't have free ports for the requested pod ports",
					Other: h.first.ref(""), More: h.count - 1, Port: &w.Port})
			}
		}
	}
}

// conflicts says whether both can't be on one machine. An address conflicts with all addresses.
func (p Port) conflicts(o Port) bool {
	return p.Number == o.Number && p.Protocol == o.Protocol && (p.Address == o.Address || p.Address == everyAddress || o.Address == everyAddress)
}

// hostPorts gives the machine's ports that a pod has for as long as it runs, and where it asks for them.
func hostPorts(pod *corev1.Pod) iter.Seq2[string, Port] {
	return func(yield func(string, Port) bool) {
		each := func(list string, containers []corev1.Container, sidecars bool) bool {
			for i := range containers {
				c := &containers[i]
				if sidecars && (c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways) {
					continue
				}
				for j := range c.Ports {
					p := &c.Ports[j]
					port := Port{cmp.Or(p.HostIP, everyAddress), cmp.Or(p.Protocol, corev1.ProtocolTCP), p.HostPort}
					if p.HostPort > 0 && !yield(fmt.Sprintf("spec.%s[%d].ports[%d]", list, i, j), port) {
						return false
					}
				}
			}
			return true
		}
		_ = each("initContainers", pod.Spec.InitContainers, true) && each("containers", pod.Spec.Containers, false)
	}
}
