package census

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/explain"
)

// owner takes a controller.
func (c *Census) owner(object any) {
	var o *explain.Owner
	switch w := object.(type) {
	case *appsv1.Deployment:
		o = owner("Deployment", &w.ObjectMeta, replicas(w.Spec.Replicas), &w.Spec.Template)
	case *appsv1.ReplicaSet:
		o = owner("ReplicaSet", &w.ObjectMeta, replicas(w.Spec.Replicas), &w.Spec.Template)
	case *appsv1.StatefulSet:
		o = owner("StatefulSet", &w.ObjectMeta, replicas(w.Spec.Replicas), &w.Spec.Template)
		for _, t := range w.Spec.VolumeClaimTemplates { // a pod's volume has the template's name
			if o.Template == nil {
				break
			}
			o.Template.Spec.Volumes = append(o.Template.Spec.Volumes, corev1.Volume{Name: t.Name})
		}
	case *appsv1.DaemonSet:
		o = owner("DaemonSet", &w.ObjectMeta, -1, &w.Spec.Template)
	case *batchv1.Job:
		o = owner("Job", &w.ObjectMeta, -1, &w.Spec.Template)
	case *batchv1.CronJob:
		o = owner("CronJob", &w.ObjectMeta, -1, &w.Spec.JobTemplate.Spec.Template)
	case *corev1.ReplicationController:
		o = owner("ReplicationController", &w.ObjectMeta, replicas(w.Spec.Replicas), w.Spec.Template)
	default:
		return
	}
	c.facts.Owners = append(c.facts.Owners, o)
}

func owner(kind string, m *metav1.ObjectMeta, replicas int32, template *corev1.PodTemplateSpec) *explain.Owner {
	o := &explain.Owner{Kind: kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID, Controller: metav1.GetControllerOf(m), Replicas: replicas}
	if template != nil && len(template.Spec.Containers) > 0 {
		o.Template = template.DeepCopy()
		meta(&o.Template.ObjectMeta)
		spec(&o.Template.Spec)
	}
	return o
}

// replicas that are not said are 1.
func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
