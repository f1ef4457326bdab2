package fit

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// places finds volumes of claims that can't be reached from the node. The scheduler stops at the first.
func (q *question) places(have []*use) filter {
	type place struct {
		pv *corev1.PersistentVolume
		Reason
	}
	var places []place
	for _, u := range have {
		if pv := q.volumes[u.claim.Spec.VolumeName]; pv != nil {
			places = append(places, place{pv, q.elsewhere(u, pv)})
		} else if u.ephemeral { // else another plugin says so, before it looks at nodes
			places = append(places, place{nil, u.nowhere(q.pod, wordsGone, "claim %s has the volume %s, which does not exist", u.name, u.claim.Spec.VolumeName)})
		}
	}
	return func(n *node, v *Verdict) {
		quiet := false
		for i := range places {
			p := &places[i]
			if p.pv != nil && within(p.pv, n.Labels) {
				continue
			}
			r := p.Reason
			if quiet {
				r.Words = ""
			}
			quiet = true
			v.add(r)
		}
	}
}

// elsewhere is the reason that a volume gives on a node from which it can't be reached.
func (q *question) elsewhere(u *use, pv *corev1.PersistentVolume) Reason {
	r := Reason{Kind: VolumeZone, Plugin: PluginBinding, Path: u.path, Words: wordsPlace, Other: &Ref{Kind: "PersistentVolume", Name: pv.Name, Path: "spec.nodeAffinity"},
		text: fmt.Sprintf("volume %s of claim %s is only where %s", pv.Name, u.name, whereIs(pv))}
	if hosts, local := hostsOf(pv); local {
		r.Kind, r.Name = VolumeLocal, hosts
		r.text = fmt.Sprintf("volume %s of claim %s is on the machine %s%s", pv.Name, u.name, hosts, q.dead(pv))
	}
	return r
}

// hostsOf are the machines that a volume is on, if its affinity names hosts. One of the host's own path that
// is said to be in a zone is in that zone.
func hostsOf(pv *corev1.PersistentVolume) (hosts string, local bool) {
	var names []string
	for _, r := range affinityOf(pv) {
		if r.Key == corev1.LabelHostname && r.Operator == corev1.NodeSelectorOpIn {
			names = append(names, r.Values...)
		}
	}
	return strings.Join(names, ", "), len(names) > 0
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
		if within(pv, n.Labels) {
			return ""
		}
	}
	return ", and no such node exists"
}
