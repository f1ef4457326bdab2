package fit

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// resources gives what the node would have too little of even if nothing else ran on it.
func resources(pod *corev1.PodSpec, node *corev1.Node) []Reason {
	allocatable := node.Status.Allocatable
	if len(allocatable) == 0 {
		return nil
	}
	var reasons []Reason
	if pods := allocatable[corev1.ResourcePods]; pods.Value() < 1 {
		reasons = append(reasons, Reason{Kind: PodCount, Resource: corev1.ResourcePods, Requested: *resource.NewQuantity(1, resource.DecimalSI), Allocatable: pods})
	}
	requests := resourcehelpers.PodRequests(&corev1.Pod{Spec: *pod}, resourcehelpers.PodResourcesOptions{})
	for _, name := range slices.SortedFunc(maps.Keys(requests), compare) {
		requested, has := requests[name], allocatable[name]
		if units(name, requested) > units(name, has) {
			reasons = append(reasons, Reason{Kind: Resources, Resource: name, Requested: requested, Allocatable: has})
		}
	}
	return reasons
}

// units is a quantity as the scheduler counts: whole ones, of CPU thousandths, rounded up.
func units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// compare has the resources that every node has first, as the scheduler has them.
func compare(a, b corev1.ResourceName) int {
	first := []corev1.ResourceName{corev1.ResourceEphemeralStorage, corev1.ResourceMemory, corev1.ResourceCPU}
	return cmp.Or(slices.Index(first, b)-slices.Index(first, a), cmp.Compare(a, b))
}
