package explain

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Default does to a pod that nobody has sent yet what the API server would: where there are only limits,
// they are requests too; ports of pods on the host's network are the host's.
func Default(s *corev1.PodSpec) {
	for _, containers := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range containers {
			k := &containers[i]
			if requests := maps.Clone(k.Resources.Limits); requests != nil {
				maps.Copy(requests, k.Resources.Requests)
				k.Resources.Requests = requests
			}
			for j := range k.Ports {
				if s.HostNetwork && k.Ports[j].HostPort == 0 {
					k.Ports[j].HostPort = k.Ports[j].ContainerPort
				}
			}
		}
	}
}

// controllerRef is what the pods of a controller have.
func controllerRef(o *Owner) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: &yes}
}
