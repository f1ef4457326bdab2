package fit

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/ephemeral"
)

const (
	wordsPlace    = "node(s) didn't match PersistentVolume's node affinity"
	wordsNoVolume = "node(s) didn't find available persistent volumes to bind"
	wordsGone     = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	wordsSpace    = "node(s) did not have enough free storage"
)

// binding finds claims without a volume, and volumes that are elsewhere.
func binding(q *question) filter {
	uses := slices.DeleteFunc(q.uses(), func(u use) bool { return u.claim == nil && (!u.ephemeral || q.Claims == nil) })
	if len(uses) == 0 {
		return nil
	}
	var filters []filter
	var have, want []*use
	quiet := false
	for i := range uses {
		u := &uses[i]
		r, faulty := q.faulty(u)
		switch {
		case faulty:
			if quiet {
				r.Words = ""
			}
			quiet = true
			filters = append(filters, always(r))
		case bound(u.claim):
			have = append(have, u)
		default:
			want = append(want, u)
		}
	}
	want = slices.DeleteFunc(want, func(u *use) bool {
		if q.Classes == nil || q.delayed(u.claim) && u.claim.Spec.VolumeName == "" {
			return false
		}
		words := "pod has unbound immediate PersistentVolumeClaims"
		if quiet {
			words = ""
		}
		quiet = true
		filters = append(filters, always(u.unbound(q.pod, PluginBinding, words, "claim %s", q.whyUnbound(u))))
		return true
	})
	if len(have)+len(want) > 0 && q.Volumes == nil {
		filters = append(filters, alwaysUnknown("volumes", "they could not be read, and the pod has volumes from claims"))
		return all(filters)
	}
	if len(want) > 0 && q.Classes == nil {
		filters, want = append(filters, alwaysUnknown("storage classes", "they could not be read, and the pod has claims without a volume")), nil
	}
	return all(append(filters, q.places(have), q.candidates(want)))
}

// faulty finds claims that no pod can have as they are.
func (q *question) faulty(u *use) (Reason, bool) {
	switch {
	case u.claim == nil:
		return u.unbound(q.pod, PluginBinding, fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", u.name),
			"claim %s is not made yet", u.name), true
	case u.claim.Status.Phase == corev1.ClaimLost:
		return u.unbound(q.pod, PluginBinding, fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", u.name, u.claim.Spec.VolumeName),
			"claim %s has lost its volume %s", u.name, u.claim.Spec.VolumeName), true
	case u.claim.DeletionTimestamp != nil:
		return u.unbound(q.pod, PluginBinding, fmt.Sprintf("persistentvolumeclaim %q is being deleted", u.name), "claim %s is being deleted", u.name), true
	case u.ephemeral:
		if err := ephemeral.VolumeIsForPod(q.pod, u.claim); err != nil {
			return u.unbound(q.pod, PluginBinding, err.Error(), "claim %s is not the pod's own", u.name), true
		}
	}
	return Reason{}, false
}

// whyUnbound says why a claim that waits for no pod has no volume.
func (q *question) whyUnbound(u *use) string {
	class := classOfClaim(u.claim)
	switch {
	case u.claim.Spec.VolumeName != "":
		return fmt.Sprintf("%s is not bound to its volume %s yet", u.name, u.claim.Spec.VolumeName)
	case class == "":
		return u.name + " has no volume, and no storage class that would make one"
	case q.classes[class] == nil:
		return fmt.Sprintf("%s has no volume, and its storage class %s does not exist", u.name, class)
	default:
		return fmt.Sprintf("%s has no volume yet, which storage class %s makes without waiting for the pod", u.name, class)
	}
}
