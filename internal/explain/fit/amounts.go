package fit

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// amounts are resources as the scheduler counts them: CPU in thousandths, rounded up, all else in whole
// units, rounded up. Values are shared: nothing is changed in place.
type amounts struct {
	cpu, memory, storage int64
	pods                 int64
	scalars              map[corev1.ResourceName]int64 // extended resources, huge pages, and the like
}

// asked is what a pod requests that is to be scheduled.
func asked(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{})
}

// taken is what a pod on a node takes: during a resize the larger of what it has and what it asks for.
func taken(pod *corev1.Pod) amounts {
	a := amountsOf(resourcehelpers.PodRequests(pod, resourcehelpers.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
	a.pods = 1
	return a
}

func allocatable(n *corev1.Node) amounts { return amountsOf(n.Status.Allocatable) }

func amountsOf(list corev1.ResourceList) amounts {
	var a amounts
	for name, q := range list {
		switch {
		case name == corev1.ResourceCPU:
			a.cpu = q.MilliValue()
		case name == corev1.ResourceMemory:
			a.memory = q.Value()
		case name == corev1.ResourceEphemeralStorage:
			a.storage = q.Value()
		case name == corev1.ResourcePods:
			a.pods = q.Value()
		case scalar(name):
			if a.scalars == nil {
				a.scalars = map[corev1.ResourceName]int64{}
			}
			a.scalars[name] = q.Value()
		}
	}
	return a
}

// scalar says whether the scheduler counts the resource at all, beside those that every node has.
func scalar(name corev1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.HasPrefix(s, corev1.DefaultResourceRequestsPrefix) ||
		strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceAttachableVolumesPrefix)
}

func (a amounts) of(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return a.cpu
	case corev1.ResourceMemory:
		return a.memory
	case corev1.ResourceEphemeralStorage:
		return a.storage
	case corev1.ResourcePods:
		return a.pods
	default:
		return a.scalars[name]
	}
}

func (a amounts) plus(b amounts) amounts  { return a.add(b, 1) }
func (a amounts) minus(b amounts) amounts { return a.add(b, -1) }

func (a amounts) add(b amounts, sign int64) amounts {
	sum := amounts{a.cpu + sign*b.cpu, a.memory + sign*b.memory, a.storage + sign*b.storage, a.pods + sign*b.pods, a.scalars}
	if len(b.scalars) > 0 {
		sum.scalars = maps.Clone(a.scalars)
		if sum.scalars == nil {
			sum.scalars = make(map[corev1.ResourceName]int64, len(b.scalars))
		}
		for name, n := range b.scalars {
			sum.scalars[name] += sign * n
		}
	}
	return sum
}
