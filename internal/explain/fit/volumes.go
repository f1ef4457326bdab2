package fit

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	volumehelpers "k8s.io/component-helpers/storage/volume"
)

// hostsOf are the machines that a volume is on, if it is on machines: a local one, or one whose affinity
// names hosts.
func hostsOf(pv *corev1.PersistentVolume) (hosts string, local bool) {
	local = pv.Spec.Local != nil || pv.Spec.HostPath != nil
	var names []string
	for _, r := range affinityOf(pv) {
		if r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn {
			names, local = append(names, r.Values...), true
		}
	}
	return strings.Join(names, ", "), local
}

// affinityOf are the requirements of a volume's node affinity, of all its terms.
func affinityOf(pv *corev1.PersistentVolume) []corev1.NodeSelectorRequirement {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var all []corev1.NodeSelectorRequirement
	for _, t := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		all = append(append(all, t.MatchExpressions...), t.MatchFields...)
	}
	return all
}

// whereIs says in words which nodes reach a volume.
func whereIs(pv *corev1.PersistentVolume) string {
	var parts []string
	for _, r := range affinityOf(pv) {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ", "))))
	}
	return strings.Join(parts, "; ")
}

// dead says if none of the machines that a volume is on is there any more.
func (q *question) dead(pv *corev1.PersistentVolume) string {
	for _, n := range q.nodes {
		if volumehelpers.CheckNodeAffinity(pv, n.Labels) == nil {
			return ""
		}
	}
	return ", and no such node exists"
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
		class := volumehelpers.GetPersistentVolumeClaimClass(u.claim)
		if p.onHost[class] != nil {
			continue
		}
		p.onHost[class] = map[string][]*corev1.PersistentVolume{}
		for _, pv := range q.ofClass[class] {
			claimed := pv.Spec.ClaimRef != nil
			if claimed && !slices.ContainsFunc(want, func(u *use) bool { return volumehelpers.IsVolumeBoundToClaim(pv, u.claim) }) {
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
	class := volumehelpers.GetPersistentVolumeClaimClass(c)
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
