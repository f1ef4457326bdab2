package fit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// resources finds what is not free in the amount that the pod requests.
func resources(q *question) filter {
	list := asked(q.pod)
	wants := amountsOf(list)
	names := slices.SortedFunc(maps.Keys(list), compareResources)
	names = slices.DeleteFunc(names, func(name corev1.ResourceName) bool { return wants.of(name) <= 0 || name == corev1.ResourcePods })
	paths := map[corev1.ResourceName]string{}
	for _, name := range names {
		paths[name] = requestPath(q.pod, name)
	}
	return func(n *node, v *Verdict) {
		used := q.used(n)
		if used.pods+1 > n.room.pods {
			v.add(Reason{Kind: PodCount, Plugin: PluginResources, Words: "Too many pods", Amount: &Amount{
				Resource: corev1.ResourcePods, Requested: *resource.NewQuantity(1, resource.DecimalSI),
				Used: *resource.NewQuantity(used.pods, resource.DecimalSI), Allocatable: n.Status.Allocatable[corev1.ResourcePods]}})
		}
		for _, name := range names {
			if wants.of(name) <= n.room.of(name)-used.of(name) {
				continue
			}
			if n.room.of(name) <= 0 && strings.Contains(string(name), "/") {
				may, known := q.fromDevices(name)
				if may || !known {
					v.unknown("device classes", string(name)+" may be had as devices, whose allocation is not evaluated")
				}
				if may {
					continue
				}
			}
			v.add(Reason{Kind: Resources, Plugin: PluginResources, Path: paths[name], Words: "Insufficient " + string(name), Amount: &Amount{
				Resource: name, Requested: list[name], Used: quantity(name, used.of(name), list[name].Format), Allocatable: n.Status.Allocatable[name]}})
		}
	}
}

// quantity is an amount as people write it.
func quantity(name corev1.ResourceName, units int64, format resource.Format) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(units, resource.DecimalSI)
	}
	return *resource.NewQuantity(units, format)
}

// requestPath is where the pod asks for most of a resource.
func requestPath(pod *corev1.Pod, name corev1.ResourceName) string {
	if r := pod.Spec.Resources; r != nil {
		if _, ok := r.Requests[name]; ok {
			return field("spec.resources.requests", string(name))
		}
	}
	path, most := "", resource.Quantity{}
	look := func(list string, containers []corev1.Container) {
		for i := range containers {
			if q, ok := containers[i].Resources.Requests[name]; ok && q.Cmp(most) > 0 {
				path, most = field(fmt.Sprintf("spec.%s[%d].resources.requests", list, i), string(name)), q
			}
		}
	}
	look("containers", pod.Spec.Containers)
	look("initContainers", pod.Spec.InitContainers)
	if path == "" {
		return field("spec.overhead", string(name))
	}
	return path
}

// compareResources has the resources that every node has first, as the scheduler has them.
func compareResources(a, b corev1.ResourceName) int {
	first := []corev1.ResourceName{corev1.ResourceEphemeralStorage, corev1.ResourceMemory, corev1.ResourceCPU}
	return cmp.Or(slices.Index(first, b)-slices.Index(first, a), cmp.Compare(a, b))
}
