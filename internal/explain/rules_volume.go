package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

const annotationProvisioned = "pv.kubernetes.io/provisioned-by"

// volumes are the rules of the volumes that the pod's claims are bound to: where they can be reached.
func (s *seeker) volumes() {
	for i, v := range s.pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := s.cluster.claim(s.pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if claim == nil || claim.Spec.VolumeName == "" {
			continue
		}
		if volume := s.cluster.volume(claim.Spec.VolumeName); volume != nil && volume.Spec.NodeAffinity != nil && volume.Spec.NodeAffinity.Required != nil {
			s.bound(i, claim, volume)
		}
	}
}

// bound is a volume that not all nodes reach.
func (s *seeker) bound(i int, claim *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) {
	code, on := reason.VolumeZone, "can be reached from nodes with "+termsText(v.Spec.NodeAffinity.Required.NodeSelectorTerms)
	if host, ok := hostOf(v); ok {
		code, on = reason.VolumeLocal, "is on "+host
		if s.cluster.facts.Nodes != nil && !s.cluster.hasHost(host) {
			on += ", which does not exist any more"
		}
	}
	actor := Unknown
	if v.Annotations[annotationProvisioned] != "" {
		actor = Controller
	}
	path := fmt.Sprintf("%s[%d]", pathVolume, i)
	s.add(rule{Constraint: constraint(code, actor, Source{Ref{"PersistentVolume", "", v.Name}, "spec.nodeAffinity.required"},
		fmt.Sprintf("the volume of its claim %s %s", claim.Name, on)),
		blames: func(r fit.Reason) bool {
			return (r.Kind == fit.VolumeZone || r.Kind == fit.VolumeLocal) && (strings.HasPrefix(r.Path, path) || about(r, claim.Name, v.Name))
		},
		cut: cut{volumes: []int{i}}})
}

func about(r fit.Reason, names ...string) bool {
	for _, n := range names {
		if r.Other != nil && r.Other.Name == n {
			return true
		}
	}
	return false
}

// hostOf is the one machine that a volume is on.
func hostOf(v *corev1.PersistentVolume) (string, bool) {
	terms := v.Spec.NodeAffinity.Required.NodeSelectorTerms
	if len(terms) != 1 {
		return "", false
	}
	for _, e := range terms[0].MatchExpressions {
		if e.Key == corev1.LabelHostname && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			return e.Values[0], true
		}
	}
	for _, e := range terms[0].MatchFields {
		if e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
			return e.Values[0], true
		}
	}
	return "", false
}

// volume is a rule about volumes that only a verdict shows.
func (s *seeker) volume(r fit.Reason, blames func(fit.Reason) bool) (rule, bool) {
	switch r.Kind {
	case fit.VolumeUnbound, fit.VolumeZone, fit.VolumeLocal, fit.ClaimInUse, fit.VolumeInUse:
		return rule{Constraint: constraint(reason.Code(r.Kind), Unknown, s.sourceOf(fit.Reason{Other: r.Other, Path: pathUnless(r)}), r.String()), blames: blames, cut: cutAt(r.Path)}, true
	case fit.AttachLimit:
		n := s.count(blames)
		return rule{Constraint: constraint(reason.AttachLimit, Unknown, Source{Ref{"CSINode", "", s.onlyNode(blames)}, "spec.drivers"},
			fmt.Sprintf("%s as many volumes of %s as it can attach", plural(n, "node")+have(n), r.Volumes.Driver)), blames: blames, settled: true}, true
	}
	return rule{}, false
}

// pathUnless is the pod's field, unless there is an object that says more.
func pathUnless(r fit.Reason) string {
	if r.Other != nil {
		return ""
	}
	return r.Path
}

func (c *Cluster) claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return c.claims[namespace+"/"+name]
}
func (c *Cluster) volume(name string) *corev1.PersistentVolume { return c.volumes[name] }
func (c *Cluster) pod(namespace, name string) *corev1.Pod      { return c.pods[namespace+"/"+name] }
func (c *Cluster) hasHost(host string) bool                    { return c.hosts[host] }
