package explain

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kinds of workloads that Kubernetes does not have, or that matter here.
const (
	kindPod         = "Pod"
	kindNode        = "Node"
	kindReplicaSet  = "ReplicaSet"
	kindDeployment  = "Deployment"
	kindStatefulSet = "StatefulSet"
	kindDaemonSet   = "DaemonSet"
	kindJob         = "Job"
	kindCronJob     = "CronJob"
	kindRC          = "ReplicationController"
	KindRun         = "Run" // of Berth: all pods of a run
)

// Labels and annotations that Berth puts on its pods. Package plan has them too, and a test that they agree.
const (
	LabelRun            = "berth.dev/run"
	AnnotationPlacement = "berth.dev/placement"
)

const mostOwners = 8 // in a chain; a longer one is a ring

// WorkloadOf is the top controller that owns the pod: the run, if it is Berth's; the pod itself if there is
// none.
func (c *Cluster) WorkloadOf(p *corev1.Pod) Ref {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		if run := p.Labels[LabelRun]; run != "" {
			return Ref{KindRun, p.Namespace, strings.ToUpper(run)}
		}
		return Ref{kindPod, p.Namespace, p.Name}
	}
	top := Ref{ref.Kind, p.Namespace, ref.Name}
	for range mostOwners {
		o := c.owner(ref, p.Namespace)
		switch {
		case o != nil && o.Controller != nil:
			ref = o.Controller
			top = Ref{ref.Kind, p.Namespace, ref.Name}
		case o == nil && ref.Kind == kindReplicaSet:
			return deploymentOf(p, top)
		default:
			return top
		}
	}
	return top
}

// deploymentOf guesses the Deployment of a ReplicaSet that can't be read: its name ends with the hash that
// is also a label of the pod.
func deploymentOf(p *corev1.Pod, set Ref) Ref {
	hash := p.Labels["pod-template-hash"]
	if name, ok := strings.CutSuffix(set.Name, "-"+hash); ok && hash != "" && name != "" {
		return Ref{kindDeployment, set.Namespace, name}
	}
	return set
}

func (c *Cluster) owner(ref *metav1.OwnerReference, namespace string) *Owner {
	if o := c.byUID[ref.UID]; o != nil && ref.UID != "" {
		return o
	}
	return c.owners[Ref{ref.Kind, namespace, ref.Name}]
}

// template is what the pod was made from, with the controller whose it is; nil if it can't be read.
func (c *Cluster) template(p *corev1.Pod) *Owner {
	ref := metav1.GetControllerOf(p)
	for range mostOwners {
		if ref == nil {
			return nil
		}
		o := c.owner(ref, p.Namespace)
		if o == nil && ref.Kind == kindReplicaSet { // which may be unread where its Deployment is read
			o = c.owners[deploymentOf(p, Ref{ref.Kind, p.Namespace, ref.Name})]
		}
		if o == nil {
			return nil
		}
		if o.Template != nil {
			return o
		}
		ref = o.Controller
	}
	return nil
}

// replicas is how many pods the workload should have, -1 if that is not known.
func (c *Cluster) replicas(w Ref) int32 {
	if o := c.owners[w]; o != nil {
		return o.Replicas
	}
	return -1
}

// isDaemon says whether the pod is one that each node has.
func isDaemon(p *corev1.Pod) bool {
	ref := metav1.GetControllerOf(p)
	return ref != nil && ref.Kind == kindDaemonSet
}

// isMirror says whether the pod is a static one of its node.
func isMirror(p *corev1.Pod) bool {
	_, ok := p.Annotations[corev1.MirrorPodAnnotationKey]
	return ok
}
