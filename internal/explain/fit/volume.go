package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
)

// What Kubernetes' controllers write on claims, and what a storage class names as its provisioner that has none.
// component-helpers has these words and the rules below in its package storage/volume, which links every client that
// client-go has: a third of the program. The scheduler holds this file to them in the differential test.
const (
	AnnotationBindCompleted = "pv.kubernetes.io/bind-completed"
	AnnotationSelectedNode  = "volume.kubernetes.io/selected-node"

	noProvisioner = "kubernetes.io/no-provisioner"
)

// classOfClaim is the claim's storage class; "" if it names none. The old annotation comes before the field.
func classOfClaim(c *corev1.PersistentVolumeClaim) string {
	if class, old := c.Annotations[corev1.BetaStorageClassAnnotation]; old {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

// classOfVolume is likewise the volume's.
func classOfVolume(pv *corev1.PersistentVolume) string {
	if class, old := pv.Annotations[corev1.BetaStorageClassAnnotation]; old {
		return class
	}
	return pv.Spec.StorageClassName
}

// within says whether a volume can be had on a node with the labels.
func within(pv *corev1.PersistentVolume, node map[string]string) bool {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return true
	}
	ok, err := schedulinghelpers.MatchNodeSelectorTerms(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: node}}, pv.Spec.NodeAffinity.Required)
	return ok && err == nil
}

// promised says whether a volume is for the claim and no other.
func promised(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Namespace == c.Namespace && ref.Name == c.Name && (ref.UID == "" || ref.UID == c.UID)
}

// choose is the volume that the scheduler would give to a claim on a node: one that is promised to it, or else the
// smallest that suits it and is not taken; nil if there is none.
func choose(c *corev1.PersistentVolumeClaim, all []*corev1.PersistentVolume, node map[string]string, taken map[string]*corev1.PersistentVolume) *corev1.PersistentVolume {
	selector := labels.Everything()
	if c.Spec.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(c.Spec.Selector); err != nil {
			return nil
		}
	}
	var smallest *corev1.PersistentVolume
	for _, pv := range all {
		switch {
		case taken[pv.Name] != nil || !large(pv, c) || !alike(pv, c):
		case promised(pv, c):
			if !within(pv, node) {
				return nil // it is bound to this one or to none
			}
			return pv
		case pv.Spec.ClaimRef != nil || pv.Status.Phase != corev1.VolumeAvailable,
			classOfVolume(pv) != classOfClaim(c) || !selector.Matches(labels.Set(pv.Labels)),
			!allows(pv, c.Spec.AccessModes) || smallest != nil && pv.Spec.Capacity.Storage().Cmp(*smallest.Spec.Capacity.Storage()) >= 0 || !within(pv, node):
		default:
			smallest = pv
		}
	}
	return smallest
}

func large(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return pv.Spec.Capacity.Storage().Cmp(*c.Spec.Resources.Requests.Storage()) >= 0
}

// alike says whether a volume is of the mode and the attributes that the claim wants, and stays.
func alike(pv *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	mode := func(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
		if m == nil {
			return corev1.PersistentVolumeFilesystem
		}
		return *m
	}
	attributes := func(name *string) string {
		if name == nil {
			return ""
		}
		return *name
	}
	return pv.DeletionTimestamp == nil && mode(pv.Spec.VolumeMode) == mode(c.Spec.VolumeMode) &&
		attributes(pv.Spec.VolumeAttributesClassName) == attributes(c.Spec.VolumeAttributesClassName)
}

func allows(pv *corev1.PersistentVolume, modes []corev1.PersistentVolumeAccessMode) bool {
	return !slices.ContainsFunc(modes, func(m corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, m) })
}
