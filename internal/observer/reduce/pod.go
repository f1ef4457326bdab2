package reduce

import (
	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Pod is what is kept of a pod.
type Pod struct {
	UID        string
	Namespace  Name
	Name       Name
	Created    int64      // Unix seconds
	Controller *Reference // nil if there is none
	OptedOut   bool

	Phase       Name
	Node        Name // where it was scheduled to; empty if nowhere
	QOS         Name
	Unscheduled Name // why it has no node; empty if it has one
	Causes      Causes
	Containers  []Container
	Placement   *Block[observer.Placement]
	Whole       *Block[Whole] // nil for most
}

// Whole is what a pod asks for beside what its containers do.
type Whole struct {
	Resources *observer.Resources
	Overhead  observer.Quantities
}

// OfPod reduces a pod. Nothing of it is kept but strings.
func OfPod(p *corev1.Pod, bounds Bounds) *Pod {
	reason, causes := unscheduled(p)
	made := &Pod{
		UID: string(p.UID), Namespace: name(p.Namespace), Name: name(p.Name), Created: p.CreationTimestamp.Unix(),
		Controller: podController(p), OptedOut: optedOut(p.Annotations),
		Phase: name(phase(p.Status.Phase)), Node: name(p.Spec.NodeName), QOS: name(qos(p.Status.QOSClass)),
		Unscheduled: name(reason), Causes: causes,
		Containers: containers(p, bounds), Placement: placement(p, byDaemonSetController(p), bounds),
	}
	t := &trimmer{Bounds: bounds, field: "nodes"}
	if !t.fits(p.Spec.NodeName, MostName, "", 0) {
		made.Node = name("")
	}
	t.field = "pod.resources" // a container's are resources
	whole := Whole{Resources: t.resources(p.Spec.Resources)}
	t.field = "overhead"
	whole.Overhead = t.quantities(p.Spec.Overhead, "")
	if whole.Resources != nil || whole.Overhead != nil || len(t.drops) > 0 {
		made.Whole = block(whole, t.drops)
	}
	return made
}

// phase is one of Kubernetes'. What was not created yet, as in a manifest, is Pending.
func phase(p corev1.PodPhase) string {
	switch p {
	case corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed:
		return string(p)
	case "":
		return string(corev1.PodPending)
	}
	return string(corev1.PodUnknown)
}

func qos(c corev1.PodQOSClass) string {
	switch c {
	case corev1.PodQOSGuaranteed, corev1.PodQOSBurstable, corev1.PodQOSBestEffort:
		return string(c)
	}
	return ""
}
