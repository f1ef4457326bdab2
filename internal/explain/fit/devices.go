package fit

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// devices says that the pod asks for devices, whose allocation is not evaluated.
func devices(q *question) filter {
	if len(q.pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	return alwaysUnknown("device claims", "spec.resourceClaims asks for devices, and their allocation is not evaluated")
}

// fromDevices says whether a resource that a node does not have may be had as devices of a class, and
// whether that is known.
func (q *question) fromDevices(name corev1.ResourceName) (may, known bool) {
	if class, implied := strings.CutPrefix(string(name), resourcev1.ResourceDeviceClassPrefix); implied {
		for _, c := range q.DeviceClasses {
			if c.Name == class {
				return true, true
			}
		}
	}
	for _, c := range q.DeviceClasses {
		if c.Spec.ExtendedResourceName != nil && *c.Spec.ExtendedResourceName == string(name) {
			return true, true
		}
	}
	return false, q.DeviceClasses != nil
}
