package agent

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/devplane/internal/nodefile"
)

func TestNodeObject(t *testing.T) {
	n := nodeObject(nodefile.Node{
		Name: "a-0", Pool: "a", Kind: nodefile.Process, Labels: map[string]string{"kubernetes.io/arch": "arm64", "tier": "x"},
		Taints:   []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}},
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), "nvidia.com/gpu": resource.MustParse("4")},
	}, endpoint{"127.0.0.1", 1234}, "boot", noon)
	for label, want := range map[string]string{
		"kubernetes.io/hostname": "a-0", "kubernetes.io/arch": "arm64", "tier": "x", LabelKind: "process", LabelPool: "a",
	} {
		if n.Labels[label] != want {
			t.Errorf("label %s is %q, want %q", label, n.Labels[label], want)
		}
	}
	for name, want := range map[corev1.ResourceName]string{"cpu": "2", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi", "nvidia.com/gpu": "4"} {
		if got := n.Status.Allocatable[name]; got.String() != want {
			t.Errorf("%s is %s, want %s", name, got.String(), want)
		}
	}
	if !Healthy(n) || len(n.Status.Conditions) != 5 || n.Status.NodeInfo.Architecture != "arm64" || n.Status.DaemonEndpoints.KubeletEndpoint.Port != 1234 {
		t.Errorf("status is %+v", n.Status)
	}
}

func TestMerge(t *testing.T) {
	want := nodeObject(nodefile.Node{
		Name: "a-0", Pool: "a", Kind: nodefile.Process, Labels: map[string]string{"new": "x"},
		Taints: []corev1.Taint{{Key: "new", Effect: corev1.TaintEffectNoSchedule}},
	}, endpoint{"127.0.0.1", 2}, "boot", noon)
	old := nodeObject(nodefile.Node{Name: "a-0", Pool: "a", Kind: nodefile.Process, Labels: map[string]string{"old": "x"}}, endpoint{"127.0.0.1", 1}, "before", noon.Add(-time.Hour))
	old.Annotations = map[string]string{"of": "another"}
	old.Spec.Taints = []corev1.Taint{
		{Key: "old", Effect: corev1.TaintEffectNoSchedule}, {Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute},
	}
	for i := range old.Status.Conditions {
		if c := &old.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		}
	}
	old.Status.Conditions = append(old.Status.Conditions, corev1.NodeCondition{Type: "Foreign"})
	if Healthy(old) {
		t.Error("an unknown node is healthy")
	}
	got := merge(old, want)
	var taints []string
	for _, taint := range got.Spec.Taints {
		taints = append(taints, taint.Key)
	}
	if !slices.Equal(taints, []string{"node.kubernetes.io/unreachable", "new"}) {
		t.Errorf("taints are %q", taints)
	}
	if _, stale := got.Labels["old"]; stale || got.Labels["new"] != "x" || got.Annotations["of"] != "another" {
		t.Errorf("labels %v, annotations %v", got.Labels, got.Annotations)
	}
	times := map[corev1.NodeConditionType]metav1.Time{}
	for _, c := range got.Status.Conditions {
		times[c.Type] = c.LastTransitionTime
	}
	if !Healthy(got) || !times[corev1.NodeReady].Time.Equal(noon) || !times[corev1.NodeDiskPressure].Time.Equal(noon.Add(-time.Hour)) || len(times) != 6 {
		t.Errorf("conditions are %+v", got.Status.Conditions)
	}
	if got.Status.NodeInfo.BootID != "boot" || got.Status.DaemonEndpoints.KubeletEndpoint.Port != 2 {
		t.Errorf("status is %+v", got.Status)
	}
}
