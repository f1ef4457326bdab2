package census

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/explain/fit"
)

// kept are the annotations that count, of whatever object.
var kept = append(slices.Clone(explain.Annotations), fit.AnnotationBindCompleted, fit.AnnotationSelectedNode, "pv.kubernetes.io/provisioned-by")

// meta keeps what tells an object from others, whose it is, and what selects it.
func meta(m *metav1.ObjectMeta) {
	var annotations map[string]string
	for _, key := range kept {
		if value, ok := m.Annotations[key]; ok {
			if annotations == nil {
				annotations = map[string]string{}
			}
			switch key {
			case corev1.MirrorPodAnnotationKey:
				value = "mirror"
			case explain.AnnotationPlacement:
				value = withoutEnv(value)
			}
			annotations[key] = value
		}
	}
	*m = metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, UID: m.UID, Generation: m.Generation, Labels: m.Labels, Annotations: annotations,
		DeletionTimestamp: m.DeletionTimestamp, OwnerReferences: m.OwnerReferences}
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].BlockOwnerDeletion = nil
	}
}

// inContainers are paths of Berth's note that name what is not kept.
var inContainers = regexp.MustCompile(`"(initC|c)ontainers\[[^"]*\]\.(env|command|args|image|lifecycle|livenessProbe|readinessProbe|startupProbe|volumeMounts|workingDir)[^"]*(\\"[^"]*)*",?`)

// withoutEnv leaves out of Berth's note on a pod what names env and the like.
func withoutEnv(note string) string {
	return strings.ReplaceAll(inContainers.ReplaceAllString(note, ""), ",]", "]")
}

// pod keeps what places a pod and what moves it.
func pod(p *corev1.Pod) {
	if p.UID == "" { // no API server has seen it
		explain.Default(&p.Spec)
	}
	meta(&p.ObjectMeta)
	p.TypeMeta = metav1.TypeMeta{}
	spec(&p.Spec)
	s := p.Status
	p.Status = corev1.PodStatus{Phase: s.Phase, NominatedNodeName: s.NominatedNodeName, Resize: s.Resize, AllocatedResources: s.AllocatedResources, Resources: s.Resources}
	for _, c := range s.Conditions {
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodResizePending, corev1.PodResizeInProgress:
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
	}
	p.Status.InitContainerStatuses, p.Status.ContainerStatuses = statuses(s.InitContainerStatuses), statuses(s.ContainerStatuses)
}

// statuses keeps what a container waits for, and what it has got where that differs from what it asks for.
func statuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range all {
		if s.State.Waiting == nil && s.AllocatedResources == nil && s.Resources == nil {
			continue
		}
		k := corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources}
		k.State.Waiting = s.State.Waiting
		kept = append(kept, k)
	}
	return kept
}

func spec(s *corev1.PodSpec) {
	*s = corev1.PodSpec{NodeName: s.NodeName, NodeSelector: s.NodeSelector, Affinity: s.Affinity, Tolerations: s.Tolerations,
		TopologySpreadConstraints: s.TopologySpreadConstraints, SchedulerName: s.SchedulerName, SchedulingGates: s.SchedulingGates,
		RuntimeClassName: s.RuntimeClassName, PriorityClassName: s.PriorityClassName, Priority: s.Priority, Overhead: s.Overhead, Resources: s.Resources,
		ResourceClaims: s.ResourceClaims, HostNetwork: s.HostNetwork, HostUsers: s.HostUsers, OS: s.OS, TerminationGracePeriodSeconds: s.TerminationGracePeriodSeconds,
		PreemptionPolicy: s.PreemptionPolicy, RestartPolicy: s.RestartPolicy,
		Containers: containers(s.Containers), InitContainers: containers(s.InitContainers), Volumes: volumes(s.Volumes)}
}

func containers(all []corev1.Container) []corev1.Container {
	if len(all) == 0 {
		return nil
	}
	kept := make([]corev1.Container, len(all))
	for i, k := range all {
		kept[i] = corev1.Container{Name: k.Name, Resources: k.Resources, RestartPolicy: k.RestartPolicy, RestartPolicyRules: k.RestartPolicyRules, ResizePolicy: k.ResizePolicy}
		for _, m := range k.VolumeMounts {
			if len(m.BindMountOptions) > 0 { // which not all nodes can
				kept[i].VolumeMounts = append(kept[i].VolumeMounts, corev1.VolumeMount{Name: m.Name, BindMountOptions: m.BindMountOptions})
			}
		}
		for _, p := range k.Ports {
			if p.HostPort != 0 || p.ContainerPort != 0 {
				kept[i].Ports = append(kept[i].Ports, corev1.ContainerPort{HostPort: p.HostPort, ContainerPort: p.ContainerPort, Protocol: p.Protocol, HostIP: p.HostIP})
			}
		}
	}
	return kept
}

// volumes keeps which volume it is, and no name of a Secret or ConfigMap.
func volumes(all []corev1.Volume) []corev1.Volume {
	for i := range all {
		v := &all[i]
		switch {
		case v.Secret != nil:
			v.Secret = &corev1.SecretVolumeSource{}
		case v.ConfigMap != nil:
			v.ConfigMap = &corev1.ConfigMapVolumeSource{}
		case v.Projected != nil:
			v.Projected = &corev1.ProjectedVolumeSource{}
		case v.CSI != nil:
			v.CSI = &corev1.CSIVolumeSource{Driver: v.CSI.Driver}
		case v.RBD != nil:
			v.RBD.SecretRef = nil
		case v.ISCSI != nil:
			v.ISCSI.SecretRef = nil
		case v.CephFS != nil:
			v.CephFS = &corev1.CephFSVolumeSource{}
		case v.Cinder != nil:
			v.Cinder.SecretRef = nil
		case v.FlexVolume != nil:
			v.FlexVolume = &corev1.FlexVolumeSource{Driver: v.FlexVolume.Driver}
		case v.AzureFile != nil:
			v.AzureFile = &corev1.AzureFileVolumeSource{}
		case v.StorageOS != nil:
			v.StorageOS = &corev1.StorageOSVolumeSource{}
		case v.ScaleIO != nil:
			v.ScaleIO = &corev1.ScaleIOVolumeSource{}
		}
	}
	return all
}

func node(n *corev1.Node) {
	meta(&n.ObjectMeta)
	n.TypeMeta = metav1.TypeMeta{}
	s := n.Status
	if len(s.Allocatable) == 0 {
		s.Allocatable = s.Capacity // as the API server has it
	}
	n.Spec = corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable, Taints: n.Spec.Taints}
	n.Status = corev1.NodeStatus{Allocatable: s.Allocatable, DeclaredFeatures: s.DeclaredFeatures}
	for _, c := range s.Conditions {
		if c.Type == corev1.NodeReady {
			n.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status, Reason: c.Reason}}
		}
	}
}
