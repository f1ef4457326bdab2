package fit

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// report takes a disagreement apart: what can go from the cluster or the pod while there still is one goes.
// What is left is written as a case, for testdata/cases.
func (r *rig) report(o Objects, pod *corev1.Pod) string {
	s := scene{Objects: plain(o), pod: pod.DeepCopy()}
	tidy(&s.pod.ObjectMeta)
	s.pod.Status = corev1.PodStatus{}
	if r.disagreement(s) == "" {
		return "made anew the case has no disagreement: it depends on what was before"
	}
	for {
		smaller := slices.IndexFunc(s.parts(), func(part func(*scene)) bool {
			try := scene{Objects: s.Objects, pod: s.pod.DeepCopy()}
			part(&try)
			if r.disagreement(try) == "" {
				return false
			}
			s = try
			return true
		})
		if smaller < 0 {
			break
		}
	}
	file, err := os.CreateTemp("", "disagreement-*.txt")
	r.check(err)
	defer file.Close()
	_, err = file.WriteString(s.text())
	r.check(err)
	return fmt.Sprintf("%s\n%s\nwritten to %s, for testdata/cases", r.disagreement(s), s.text(), file.Name())
}

// disagreement builds a scene and asks; "" if all agree, or if the API server does not take it.
func (r *rig) disagreement(s scene) string {
	r.t.Helper()
	defer r.reset()
	o := r.build(s)
	r.settle()
	o.Nodes = append(o.Nodes, r.barrier)
	a, err := r.ask(s.pod)
	if err != nil {
		return ""
	}
	defer r.remove(a.pod)
	return agrees(a, NewSnapshot(o).Explain(unbound(a.pod)))
}

// parts are what may go from a scene, each alone.
func (s *scene) parts() []func(*scene) {
	var parts []func(*scene)
	for i := range s.Pods {
		parts = append(parts, func(s *scene) { s.Pods = slices.Delete(slices.Clone(s.Pods), i, i+1) })
	}
	for i, n := range s.Nodes {
		if !slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool { return p.Spec.NodeName == n.Name }) {
			parts = append(parts, func(s *scene) { s.Nodes = slices.Delete(slices.Clone(s.Nodes), i, i+1) })
		}
	}
	if len(s.pod.Spec.Volumes) == 0 && !slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool { return len(p.Spec.Volumes) > 0 }) && len(s.Claims) > 0 {
		parts = append(parts, func(s *scene) {
			s.Claims, s.Volumes, s.Classes, s.CSINodes, s.CSIDrivers = nil, nil, nil, nil, nil
		})
	}
	spec := &s.pod.Spec
	add := func(there bool, part func(*corev1.PodSpec)) {
		if there {
			parts = append(parts, func(s *scene) { part(&s.pod.Spec) })
		}
	}
	add(len(spec.Volumes) > 0, func(p *corev1.PodSpec) { p.Volumes = p.Volumes[1:] })
	add(len(spec.Tolerations) > 0, func(p *corev1.PodSpec) { p.Tolerations = p.Tolerations[1:] })
	add(len(spec.TopologySpreadConstraints) > 0, func(p *corev1.PodSpec) { p.TopologySpreadConstraints = p.TopologySpreadConstraints[1:] })
	add(len(spec.InitContainers) > 0, func(p *corev1.PodSpec) { p.InitContainers = p.InitContainers[1:] })
	add(len(spec.Containers) > 1, func(p *corev1.PodSpec) { p.Containers = p.Containers[:1] })
	add(len(spec.NodeSelector) > 0, func(p *corev1.PodSpec) { p.NodeSelector = nil })
	if a := spec.Affinity; a != nil {
		add(a.NodeAffinity != nil, func(p *corev1.PodSpec) { p.Affinity.NodeAffinity = nil })
		add(a.PodAffinity != nil, func(p *corev1.PodSpec) { p.Affinity.PodAffinity = nil })
		add(a.PodAntiAffinity != nil, func(p *corev1.PodSpec) { p.Affinity.PodAntiAffinity = nil })
	}
	return parts
}

// plain is objects as they might have been written.
func plain(o Objects) Objects {
	p := Objects{}
	for _, n := range o.Nodes {
		if n.Name == barrierNode {
			continue
		}
		n = n.DeepCopy()
		tidy(&n.ObjectMeta)
		n.Status = corev1.NodeStatus{Allocatable: n.Status.Allocatable}
		p.Nodes = append(p.Nodes, n)
	}
	for _, pod := range o.Pods {
		pod = pod.DeepCopy()
		tidy(&pod.ObjectMeta)
		pod.Status = corev1.PodStatus{}
		p.Pods = append(p.Pods, pod)
	}
	for _, n := range o.Namespaces {
		p.Namespaces = append(p.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	}
	p.Claims, p.Volumes, p.Classes, p.CSINodes, p.CSIDrivers = tidied(o.Claims), tidied(o.Volumes), tidied(o.Classes), tidied(o.CSINodes), tidied(o.CSIDrivers)
	for _, v := range p.Volumes {
		if v.Spec.ClaimRef != nil {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: v.Spec.ClaimRef.Namespace, Name: v.Spec.ClaimRef.Name}
		}
	}
	return p
}

func tidied[T interface {
	metav1.Object
	DeepCopy() T
}](list []T) []T {
	var all []T
	for _, v := range list {
		v = v.DeepCopy()
		v.SetUID("")
		v.SetResourceVersion("")
		v.SetManagedFields(nil)
		v.SetFinalizers(nil)
		all = append(all, v)
	}
	return all
}

func tidy(m *metav1.ObjectMeta) {
	*m = metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: m.Labels, OwnerReferences: m.OwnerReferences, DeletionTimestamp: m.DeletionTimestamp}
}

// text is the scene as a case.
func (s *scene) text() string {
	var b strings.Builder
	b.WriteString("== A disagreement\n")
	write(&b, "nodes", s.Nodes)
	write(&b, "namespaces", s.Namespaces)
	write(&b, "pods", s.Pods)
	write(&b, "classes", s.Classes)
	write(&b, "csi drivers", s.CSIDrivers)
	write(&b, "csi nodes", s.CSINodes)
	write(&b, "volumes", s.Volumes)
	write(&b, "claims", s.Claims)
	write(&b, "pod", []*corev1.Pod{s.pod})
	return b.String()
}

func write[T any](b *strings.Builder, name string, list []*T) {
	if len(list) == 0 {
		return
	}
	var items []any
	for _, v := range list {
		item, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
		if err != nil {
			panic(err)
		}
		items = append(items, item)
	}
	data, err := yaml.Marshal(items)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(b, "-- %s --\n%s", name, data)
}
