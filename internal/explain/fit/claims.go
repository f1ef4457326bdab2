package fit

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/ephemeral"
)

// use is a claim as one of a pod's volumes names it.
type use struct {
	path      string
	name      string
	ephemeral bool                          // made for the pod, and its own
	claim     *corev1.PersistentVolumeClaim // nil if there is none
}

// uses are the claims that the pod names, in the order of its volumes.
func (q *question) uses() []use {
	var uses []use
	for i := range q.pod.Spec.Volumes {
		v := &q.pod.Spec.Volumes[i]
		if name, own := claimName(q.pod, v); name != "" {
			uses = append(uses, use{fmt.Sprintf("spec.volumes[%d]", i), name, own,
				q.claims[types.NamespacedName{Namespace: q.pod.Namespace, Name: name}]})
		}
	}
	return uses
}

// claimName is the claim that a volume names; "" if it names none. own says that it is made for the pod.
func claimName(pod *corev1.Pod, v *corev1.Volume) (name string, own bool) {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName, false
	case v.Ephemeral != nil:
		return ephemeral.VolumeClaimName(pod, v), true
	default:
		return "", false
	}
}

// names says whether a pod has a volume of the claim.
func names(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// ref names the claim.
func (u *use) ref(pod *corev1.Pod) *Ref {
	return &Ref{Kind: "PersistentVolumeClaim", Namespace: pod.Namespace, Name: u.name}
}

// unbound is a reason that the claim gives wherever the pod is to go.
func (u *use) unbound(pod *corev1.Pod, plugin Plugin, words, text string, args ...any) Reason {
	return Reason{Kind: VolumeUnbound, Plugin: plugin, Path: u.path, Other: u.ref(pod), Words: words, text: fmt.Sprintf(text, args...), stage: before}
}

// bound says whether the claim has its volume, and all is done that has to be.
func bound(c *corev1.PersistentVolumeClaim) bool {
	return c.Spec.VolumeName != "" && metav1.HasAnnotation(c.ObjectMeta, AnnotationBindCompleted)
}

// delayed says whether the claim waits for a pod to be scheduled. One whose class is not there does not.
func (q *question) delayed(c *corev1.PersistentVolumeClaim) bool {
	class := q.classes[classOfClaim(c)]
	return class != nil && class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// restrictions finds claims that are not there or are for one pod at a time, and disks that can't be shared.
func restrictions(q *question) filter {
	var filters []filter
	uses := q.uses()
	quiet := false
	for i := range uses {
		u := &uses[i]
		if u.claim == nil && q.Claims != nil && !u.ephemeral {
			r := u.unbound(q.pod, PluginRestrictions, fmt.Sprintf("persistentvolumeclaim %q not found", u.name), "claim %s does not exist", u.name)
			if quiet {
				r.Words = ""
			}
			quiet = true
			filters = append(filters, always(r))
		}
	}
	if len(uses) > 0 && q.Claims == nil {
		filters = append(filters, alwaysUnknown("claims", "they could not be read, and the pod has volumes from claims"))
	}
	if disks := disksOf(q.pod); len(disks) > 0 {
		filters = append(filters, q.disks(disks))
	}
	for i := range uses {
		if f := q.oncePod(&uses[i]); f != nil {
			filters = append(filters, f)
		}
	}
	return all(filters)
}

// oncePod finds the pod that has a claim which only one may have.
func (q *question) oncePod(u *use) filter {
	if u.ephemeral || u.claim == nil || !slices.Contains(u.claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
		return nil
	}
	var h hits
	for c := range q.in(q.pod.Namespace) {
		if names(c.Pod, u.name) {
			h.add(c)
		}
	}
	if h.count == 0 {
		return nil
	}
	r := Reason{Kind: ClaimInUse, Plugin: PluginRestrictions, Path: u.path, Other: h.first.ref(""), More: h.count - 1, Name: u.name,
		Words: "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"}
	return func(_ *node, v *Verdict) {
		own := r
		if len(v.Reasons) > 0 && v.Reasons[len(v.Reasons)-1].Kind == VolumeInUse {
			own.Words = ""
		}
		v.add(own)
	}
}
