package reduce

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that are read; no others are.
const (
	// AnnotationObserve excludes a namespace, an owner or a pod, unless it is "true".
	AnnotationObserve = "berth.dev/observe"
	annotationMirror  = corev1.MirrorPodAnnotationKey
)

// optedOut takes every value but "true" for a no: one that is misspelt must not give away what was to stay.
func optedOut(annotations map[string]string) bool {
	v, there := annotations[AnnotationObserve]
	return there && v != "true"
}

// Reference is a controller, as what it controls names it.
type Reference struct {
	Kind Name
	Name Name
	UID  string
}

// Object is what is kept of a namespace, or of something that may own pods.
type Object struct {
	UID        string
	Kind       Name
	Namespace  Name
	Name       Name
	Controller *Reference // nil if there is none
	OptedOut   bool
}

// OfObject reduces an object's metadata. The kind is that of the watch it came from.
func OfObject(kind string, m metav1.Object) *Object {
	return &Object{UID: string(m.GetUID()), Kind: name(kind), Namespace: name(m.GetNamespace()), Name: name(m.GetName()),
		Controller: controller(m), OptedOut: optedOut(m.GetAnnotations())}
}

func controller(m metav1.Object) *Reference {
	r := metav1.GetControllerOfNoCopy(m)
	if r == nil {
		return nil
	}
	return &Reference{Kind: name(r.Kind), Name: name(r.Name), UID: string(r.UID)}
}

// podController is a pod's controller. A mirror pod stands for a container that a node runs on its own
// account: the node is what controls it.
func podController(p *corev1.Pod) *Reference {
	if c := controller(p); c != nil {
		return c
	}
	if _, mirror := p.Annotations[annotationMirror]; mirror {
		return &Reference{Kind: name("Node"), Name: name(p.Spec.NodeName)}
	}
	return nil
}

// byDaemonSetController says whether the pod is one of a DaemonSet of Kubernetes', and not of another kind of
// that name.
func byDaemonSetController(p *corev1.Pod) bool {
	r := metav1.GetControllerOfNoCopy(p)
	return r != nil && r.Kind == "DaemonSet" && strings.HasPrefix(r.APIVersion, "apps/")
}
