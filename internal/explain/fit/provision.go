package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// provision finds why no volume can be made for the claim on the node.
func (q *question) provision(u *use, n *node, v *Verdict) (Reason, bool) {
	name := classOfClaim(u.claim)
	class := q.classes[name]
	switch {
	case class == nil: // a selected node makes a claim wait no longer for its class
		return Reason{}, false
	case class.Provisioner == "" || class.Provisioner == noProvisioner:
		return u.nowhere(q.pod, wordsNoVolume, "claim %s finds no free volume of storage class %s here, which makes none", u.name, name), true
	case !inTopologies(class.AllowedTopologies, n.Labels):
		return u.nowhere(q.pod, wordsNoVolume, "claim %s finds no free volume here, and storage class %s makes none here (allowedTopologies)", u.name, name), true
	}
	size, sized := u.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !sized {
		return Reason{}, false
	}
	if q.CSIDrivers == nil {
		v.unknown("CSI drivers", "they could not be read, and may have to be asked for room for a volume of claim "+u.name)
		return Reason{}, false
	}
	driver := q.csiDrivers[class.Provisioner]
	if driver == nil || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return Reason{}, false
	}
	if q.Capacities == nil {
		v.unknown("storage capacities", "they could not be read, and say where a volume of claim "+u.name+" has room")
		return Reason{}, false
	}
	room := slices.ContainsFunc(q.Capacities, func(c *storagev1.CSIStorageCapacity) bool {
		most := c.Capacity
		if c.MaximumVolumeSize != nil {
			most = c.MaximumVolumeSize
		}
		return c.StorageClassName == class.Name && most != nil && most.Value() >= size.Value() && reaches(c, n.Labels)
	})
	if room {
		return Reason{}, false
	}
	return u.nowhere(q.pod, wordsSpace, "there is no room for the %s of claim %s in storage class %s here", size.String(), u.name, name), true
}

// reaches says whether the storage can be reached from a node.
func reaches(c *storagev1.CSIStorageCapacity, node map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology) // nothing, if there is none
	return err == nil && selector.Matches(labels.Set(node))
}

// inTopologies says whether a class makes volumes for a node. Terms are ORed, the requirements of a term
// ANDed; no terms at all let in every node, and an empty term none.
func inTopologies(terms []corev1.TopologySelectorTerm, node map[string]string) bool {
	return len(terms) == 0 || slices.ContainsFunc(terms, func(t corev1.TopologySelectorTerm) bool {
		return len(t.MatchLabelExpressions) > 0 && !slices.ContainsFunc(t.MatchLabelExpressions, func(r corev1.TopologySelectorLabelRequirement) bool {
			value, there := node[r.Key]
			return !there || !slices.Contains(r.Values, value)
		})
	})
}
