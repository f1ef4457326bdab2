package agent

import (
	"maps"
	"runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"

	"github.com/berthdev/berth/devplane/internal/nodefile"
)

// Labels of every virtual node.
const (
	LabelKind = "devplane.berth.dev/kind"
	LabelPool = "devplane.berth.dev/pool"
)

// endpoint is where the kubelet API of all nodes is.
type endpoint struct {
	address string
	port    int32
}

// nodeObject is a node as it is to be in the API, just booted.
func nodeObject(n nodefile.Node, at endpoint, bootID string, now time.Time) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname:   n.Name,
		corev1.LabelOSStable:   runtime.GOOS,
		corev1.LabelArchStable: runtime.GOARCH,
		LabelKind:              string(n.Kind),
		LabelPool:              n.Pool,
	}
	maps.Copy(labels, n.Labels)
	// The node lifecycle controller adds these to every node that lacks them.
	labels["beta.kubernetes.io/os"], labels["beta.kubernetes.io/arch"] = labels[corev1.LabelOSStable], labels[corev1.LabelArchStable]
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("8"),
		corev1.ResourceMemory:           resource.MustParse("16Gi"),
		corev1.ResourcePods:             resource.MustParse("110"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
	}
	maps.Copy(capacity, n.Capacity)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Conditions: nodeConditions(now),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: at.address},
				{Type: corev1.NodeHostName, Address: n.Name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: at.port}},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: n.Name, SystemUUID: n.Name, BootID: bootID,
				KernelVersion:           "devplane",
				OSImage:                 "devplane " + string(n.Kind) + " node",
				ContainerRuntimeVersion: string(n.Kind) + "://" + strings.TrimPrefix(version.Get().GitVersion, "v"),
				KubeletVersion:          version.Get().GitVersion,
				OperatingSystem:         labels[corev1.LabelOSStable],
				Architecture:            labels[corev1.LabelArchStable],
			},
		},
	}
}

// nodeConditions are those of a healthy node, in the kubelet's words.
func nodeConditions(now time.Time) []corev1.NodeCondition {
	at := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: at, LastTransitionTime: at}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeNetworkUnavailable, corev1.ConditionFalse, "RouteCreated", "pods use the network of the machine"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}

// merge is a node of the API brought to what it is to be. Labels and taints are the node file's;
// taints of the node lifecycle controller are left to it, as are foreign annotations.
func merge(old, want *corev1.Node) *corev1.Node {
	n := old.DeepCopy()
	n.Labels = want.Labels
	n.Spec.Taints = nil
	for _, t := range old.Spec.Taints {
		if strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	}
	n.Spec.Taints = append(n.Spec.Taints, want.Spec.Taints...)
	n.Status.Capacity, n.Status.Allocatable = want.Status.Capacity, want.Status.Allocatable
	n.Status.Addresses, n.Status.DaemonEndpoints, n.Status.NodeInfo = want.Status.Addresses, want.Status.DaemonEndpoints, want.Status.NodeInfo
	n.Status.Conditions = mergeConditions(old.Status.Conditions, want.Status.Conditions)
	return n
}

// mergeConditions keeps foreign conditions, and the time of the last change of those that are as
// they were.
func mergeConditions(old, want []corev1.NodeCondition) []corev1.NodeCondition {
	merged := make([]corev1.NodeCondition, len(want))
	copy(merged, want)
	for _, o := range old {
		foreign := true
		for i := range merged {
			if merged[i].Type != o.Type {
				continue
			}
			foreign = false
			if merged[i].Status == o.Status {
				merged[i].LastTransitionTime = o.LastTransitionTime
			}
		}
		if foreign {
			merged = append(merged, o)
		}
	}
	return merged
}

// Healthy says whether the API has a node as Ready.
func Healthy(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
