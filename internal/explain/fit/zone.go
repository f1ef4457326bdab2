package fit

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// zoneLabels are what a volume says by its labels of where it is, in the old way.
var zoneLabels = []string{corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion}

// successor is the label that replaced an old one.
var successor = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
}

// zones finds volumes that are in another zone or region by their labels, and volumes that do not exist.
func zones(q *question) filter {
	if q.Volumes == nil {
		return nil // which binding says
	}
	var filters []filter
	quiet := false
	for _, u := range q.uses() {
		if u.ephemeral || u.claim == nil || u.claim.Spec.VolumeName == "" || u.claim.Status.Phase == corev1.ClaimLost {
			continue // or binding says why
		}
		if pv := q.volumes[u.claim.Spec.VolumeName]; pv != nil {
			filters = append(filters, zonesOf(&u, pv))
			continue
		}
		r := u.unbound(q.pod, PluginZone, fmt.Sprintf("persistentvolume %q not found", u.claim.Spec.VolumeName), "claim %s has the volume %s, which does not exist", u.name, u.claim.Spec.VolumeName)
		if quiet {
			r.Words = ""
		}
		quiet = true
		filters = append(filters, always(r))
	}
	return all(filters)
}

func zonesOf(u *use, pv *corev1.PersistentVolume) filter {
	return func(n *node, v *Verdict) {
		if !slices.ContainsFunc(zoneLabels, func(key string) bool { _, has := n.Labels[key]; return has }) {
			return // a cluster of one zone need not label its nodes
		}
		for _, key := range zoneLabels {
			zones, ok := zoneSet(pv.Labels[key])
			if !ok {
				continue
			}
			value, there := n.Labels[key]
			if !there {
				value, there = n.Labels[successor[key]]
			}
			if there && slices.Contains(zones, value) || v.saidOf(pv) {
				continue
			}
			v.add(Reason{Kind: VolumeZone, Plugin: PluginZone, Path: u.path, Words: "node(s) had no available volume zone",
				Other:    &Ref{Kind: "PersistentVolume", Name: pv.Name, Path: field("metadata.labels", key)},
				Topology: &Topology{key, value, there},
				text:     fmt.Sprintf("volume %s of claim %s is in %s %s", pv.Name, u.name, key, strings.Join(zones, ", "))})
		}
	}
}

// saidOf says whether the volume is known to be elsewhere already: one fact, and one reason.
func (v *Verdict) saidOf(pv *corev1.PersistentVolume) bool {
	return slices.ContainsFunc(v.Reasons, func(r Reason) bool {
		return r.Plugin == PluginBinding && r.Other != nil && r.Other.Name == pv.Name && r.Other.Kind == "PersistentVolume"
	})
}

// zoneSet reads the label of a volume that may be in several zones: a__b. It is false if the label is not
// there or can't be read, and so is of no effect.
func zoneSet(label string) ([]string, bool) {
	zones := strings.Split(label, "__")
	for i := range zones {
		if zones[i] = strings.TrimSpace(zones[i]); zones[i] == "" {
			return nil, false
		}
	}
	return zones, true
}
