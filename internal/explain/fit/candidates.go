package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// candidates finds claims that wait for a pod, and can get no volume on the node. The scheduler stops at
// the first: at one that is being made for another node, then at one that is to be made.
func (q *question) candidates(want []*use) filter {
	if len(want) == 0 {
		return nil
	}
	var selected, open []*use
	for _, u := range want {
		if _, ok := u.claim.Annotations[AnnotationSelectedNode]; ok {
			selected = append(selected, u)
		} else {
			open = append(open, u)
		}
	}
	// The smallest first, so that it takes the smallest volume that does.
	slices.SortStableFunc(open, func(a, b *use) int {
		x, y := a.claim.Spec.Resources.Requests[corev1.ResourceStorage], b.claim.Spec.Resources.Requests[corev1.ResourceStorage]
		return x.Cmp(y)
	})
	pool := q.newVolumePool(open)
	return func(n *node, v *Verdict) {
		quiet := false
		add := func(r Reason) {
			if quiet {
				r.Words = ""
			}
			quiet = true
			v.add(r)
		}
		var unmade []*use
		for _, u := range selected {
			if at := u.claim.Annotations[AnnotationSelectedNode]; at != n.Name {
				add(u.nowhere(q.pod, wordsNoVolume, "a volume for claim %s is being made for node %s", u.name, at))
			} else {
				unmade = append(unmade, u)
			}
		}
		chosen := map[string]*corev1.PersistentVolume{}
		for _, u := range open {
			if pv := choose(u.claim, pool.on(u.claim, n), n.Labels, chosen); pv != nil {
				chosen[pv.Name] = pv
			} else {
				unmade = append(unmade, u)
			}
		}
		for _, u := range unmade {
			if r, cant := q.provision(u, n, v); cant {
				add(r)
			}
		}
	}
}

// nowhere is a reason that an unbound claim gives on one node.
func (u *use) nowhere(pod *corev1.Pod, words, text string, args ...any) Reason {
	r := u.unbound(pod, PluginBinding, words, text, args...)
	r.stage = atNode
	return r
}

// volumePool is the free volumes that unbound claims may get, found by machine where they are on one: a
// cluster may have thousands of local volumes, and a node sees few of them.
type volumePool struct {
	anywhere map[string][]*corev1.PersistentVolume            // by class
	onHost   map[string]map[string][]*corev1.PersistentVolume // by class and host
}

func (q *question) newVolumePool(want []*use) *volumePool {
	p := &volumePool{map[string][]*corev1.PersistentVolume{}, map[string]map[string][]*corev1.PersistentVolume{}}
	for _, u := range want {
		class := classOfClaim(u.claim)
		if p.onHost[class] != nil {
			continue
		}
		p.onHost[class] = map[string][]*corev1.PersistentVolume{}
		for _, pv := range q.ofClass[class] {
			claimed := pv.Spec.ClaimRef != nil
			if claimed && !slices.ContainsFunc(want, func(u *use) bool { return promised(pv, u.claim) }) {
				continue
			}
			if hosts := onlyHosts(pv); hosts != nil && !claimed {
				for _, h := range hosts {
					p.onHost[class][h] = append(p.onHost[class][h], pv)
				}
			} else {
				p.anywhere[class] = append(p.anywhere[class], pv)
			}
		}
	}
	return p
}

// on gives the volumes that a claim might get on the node.
func (p *volumePool) on(c *corev1.PersistentVolumeClaim, n *node) []*corev1.PersistentVolume {
	class := classOfClaim(c)
	anywhere, here := p.anywhere[class], p.onHost[class][n.Labels[corev1.LabelHostname]]
	if len(here) == 0 {
		return anywhere
	}
	return append(slices.Clip(anywhere), here...)
}

// onlyHosts are the hosts outside of which a volume is surely not to be had; nil if that can't be said.
func onlyHosts(pv *corev1.PersistentVolume) []string {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil || len(pv.Spec.NodeAffinity.Required.NodeSelectorTerms) != 1 {
		return nil
	}
	for _, r := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions {
		if r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn {
			return r.Values
		}
	}
	return nil
}
