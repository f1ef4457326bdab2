package reduce

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// quantities gives amounts as whole numbers, with the unit in the key.
func (t *trimmer) quantities(list corev1.ResourceList, at string) observer.Quantities {
	if len(list) == 0 {
		return nil
	}
	if len(list) > MostEntries {
		t.drop(true, at)
		return nil
	}
	all := make(observer.Quantities, len(list))
	for resource, amount := range list {
		key := string(resource)
		switch {
		case len(key) > MostKey:
			t.drop(false, at+" "+key)
		case resource == corev1.ResourceCPU:
			all[key+"_milli"] = amount.MilliValue()
		case inBytes(resource):
			all[key+"_bytes"] = amount.Value()
		default:
			all[key] = amount.Value()
		}
	}
	return all
}

func inBytes(resource corev1.ResourceName) bool {
	switch resource {
	case corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage:
		return true
	}
	return strings.HasPrefix(string(resource), corev1.ResourceHugePagesPrefix)
}

func (t *trimmer) resources(r *corev1.ResourceRequirements) *observer.Resources {
	if r == nil || len(r.Requests) == 0 && len(r.Limits) == 0 {
		return nil
	}
	return &observer.Resources{Requests: t.quantities(r.Requests, "requests"), Limits: t.quantities(r.Limits, "limits")}
}
