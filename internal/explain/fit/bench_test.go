package fit

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// largest is as large a cluster as Kubernetes promises to bear, with 10 pods on each node: 5,000 nodes in 3
// zones, 50,000 pods of 500 deployments in 50 namespaces. Each deployment keeps its pods apart.
func largest() Objects {
	o := Objects{Nodes: []*corev1.Node{}, Pods: []*corev1.Pod{}, Namespaces: []*corev1.Namespace{}}
	for i := range 5000 {
		n := &corev1.Node{}
		n.Name = fmt.Sprintf("node-%04d", i)
		n.Labels = map[string]string{hostKey: n.Name, zoneKey: fmt.Sprintf("z%d", i%3), "pool": fmt.Sprintf("p%d", i%10)}
		n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
		if i%10 == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}
		o.Nodes = append(o.Nodes, n)
	}
	for i := range 50000 {
		p := demanding(i % 500)
		p.Name = fmt.Sprintf("%s-%d", p.Name, i)
		p.UID = types.UID(p.Name)
		p.Spec.NodeName = o.Nodes[i%5000].Name
		o.Pods = append(o.Pods, p)
	}
	return o
}

// demanding is a pod of a deployment that is apart from its like on nodes, and spread over zones.
func demanding(deployment int) *corev1.Pod {
	p := plainPod(deployment)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: selector, TopologyKey: hostKey}}}}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}}
	return p
}

func plainPod(deployment int) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Namespace = fmt.Sprintf("app-%d", deployment), fmt.Sprintf("ns-%d", deployment%50)
	p.Labels = map[string]string{"app": p.Name}
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: p.Name, UID: types.UID(p.Name), Controller: new(true)}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1Gi")}}}}
	return p
}

func BenchmarkSnapshot(b *testing.B) {
	o := largest()
	b.ReportAllocs()
	for b.Loop() {
		NewSnapshot(o)
	}
}

func BenchmarkExplain(b *testing.B) {
	s := NewSnapshot(largest())
	nowhere := plainPod(7)
	nowhere.Spec.NodeSelector = map[string]string{"pool": "none"}
	nowhere.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("64")
	everywhere := demanding(7)
	everywhere.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}, TopologyKey: zoneKey}}}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
	}{{"plain", plainPod(7)}, {"apart and spread", demanding(7)}, {"near to any of all pods", everywhere}, {"fits nowhere, for two reasons", nowhere}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if verdicts := s.Explain(c.pod); len(verdicts) != 5000 {
					b.Fatal(len(verdicts))
				}
			}
		})
	}
	b.Run("without a pod", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Without(types.NamespacedName{Namespace: "ns-7", Name: "app-7-7"}).Explain(demanding(7))
		}
	})
}
