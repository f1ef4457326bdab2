package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// guilt is a rule with what it does.
type guilt struct {
	rule  int
	opens int // nodes, if it alone were gone
	shuts int // nodes, together with others or not
}

// guilty gives the rules that shut nodes, the one to blame first: what no waiting helps against, then what
// opens most nodes if it alone is gone, then what shuts most.
func (c *Cluster) guilty(p *corev1.Pod, verdicts []fit.Verdict, rules []rule) []guilt {
	var all []guilt
	for i, r := range rules {
		if r.blames == nil {
			continue
		}
		g := guilt{rule: i}
		for _, v := range verdicts {
			if slices.ContainsFunc(v.Reasons, r.blames) {
				g.shuts++
			}
		}
		if g.shuts == 0 {
			continue
		}
		if u, ok := c.unlock(p, verdicts, rules, i); ok {
			g.opens = len(u.Nodes)
		}
		all = append(all, g)
	}
	absolute := func(g guilt) int {
		switch rules[g.rule].Code {
		case reason.Gated:
			return 2
		case reason.Contradiction:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b guilt) int {
		return cmp.Or(absolute(b)-absolute(a), b.opens-a.opens, b.shuts-a.shuts)
	})
	return all
}

// onNode is why a pod that has a node has not started.
func onNode(p *corev1.Pod) answer {
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		w := s.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
			return answer{key: "image" + w.Reason, code: reason.ImagePull, message: "its node can't pull the image (" + w.Reason + ")", also: []string{w.Message}}
		case "CreateContainerConfigError":
			return answer{key: "config", code: reason.ContainerConfig, message: "a Secret or ConfigMap that it names does not exist, or lacks a key", also: []string{w.Message}}
		}
	}
	return answer{key: "starting", code: reason.Starting, message: "it has a node, which has not started it yet"}
}
