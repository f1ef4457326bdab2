package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// podsOf are the pods of a workload that have not ended, or the pod that is meant.
func (c *Cluster) podsOf(subject Ref) ([]*corev1.Pod, bool) {
	if subject.Kind == kindPod {
		p := c.pod(subject.Namespace, subject.Name)
		if p == nil {
			return nil, false
		}
		return []*corev1.Pod{p}, true
	}
	pods := c.workloads[subject]
	if len(pods) > 0 {
		return pods, true
	}
	for _, p := range c.pods { // of one in between, such as a ReplicaSet
		if !ended(p) && c.ownedBy(p, subject) {
			pods = append(pods, p)
		}
	}
	slices.SortFunc(pods, comparePods)
	return pods, len(pods) > 0 || c.owners[subject] != nil
}

func (c *Cluster) ownedBy(p *corev1.Pod, w Ref) bool {
	if p.Namespace != w.Namespace {
		return false
	}
	for _, ref := range p.OwnerReferences {
		if ref.Kind == w.Kind && ref.Name == w.Name {
			return true
		}
		if o := c.owner(&ref, p.Namespace); o != nil && o.Controller != nil && o.Controller.Kind == w.Kind && o.Controller.Name == w.Name {
			return true
		}
	}
	return false
}

// evaluated is the pod that is held against the nodes: one that waits, before those that run; without any
// one that is made from the template.
func (c *Cluster) evaluated(w Ref, pods []*corev1.Pod) (p *corev1.Pod, made bool) {
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			return p, false
		}
	}
	if len(pods) > 0 {
		return pods[0], false
	}
	o := c.owners[w]
	if o == nil || o.Template == nil {
		return nil, false
	}
	return podFrom(o), true
}

// podFrom is a pod as the controller would make one.
func podFrom(o *Owner) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: *o.Template.ObjectMeta.DeepCopy(), Spec: *o.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = o.Namespace, o.Name+"-(new)"
	p.OwnerReferences = append(p.OwnerReferences[:0:0], controllerRef(o))
	Default(&p.Spec)
	return p
}

// othersVolumes are the volumes of the workload's other pods: each has its own.
func (c *Cluster) othersVolumes(pods []*corev1.Pod, evaluated *corev1.Pod) []Constraint {
	var all []Constraint
	for _, p := range pods {
		if p == evaluated {
			continue
		}
		s := &seeker{cluster: c, pod: p, origin: c.originOf(p)}
		s.volumes()
		for _, r := range s.rules {
			all = appendNew(all, r.Constraint)
		}
	}
	return all
}
