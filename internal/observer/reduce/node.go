package reduce

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Node is what is kept of a node: what a payload says of it, and all of its labels, since which of them are
// said depends on the pods.
type Node struct {
	Said   observer.Node
	Labels []Label // sorted by key
	Drops  []Drop
}

// Label is one of a node.
type Label struct{ Key, Value Name }

// OfNode reduces a node.
func OfNode(n *corev1.Node, bounds Bounds) *Node {
	t := &trimmer{Bounds: bounds}
	label := func(field string, keys ...string) string {
		t.field = field
		for _, k := range keys {
			if v := n.Labels[k]; v != "" {
				return t.word(v, t.text())
			}
		}
		return ""
	}
	word := func(field, s string) string { t.field = field; return t.word(s, t.text()) }
	info := &n.Status.NodeInfo
	said := observer.Node{
		Name:            n.Name,
		InstanceType:    label("instance_type", corev1.LabelInstanceTypeStable, corev1.LabelInstanceType),
		CapacityType:    capacityType(label),
		Zone:            label("zone", corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone),
		Region:          label("region", corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaRegion),
		Architecture:    label("architecture", corev1.LabelArchStable, "beta.kubernetes.io/arch"),
		OperatingSystem: label("operating_system", corev1.LabelOSStable, "beta.kubernetes.io/os"),
		KernelVersion:   word("kernel_version", info.KernelVersion),
		KubeletVersion:  word("kubelet_version", info.KubeletVersion),
		CreatedAt:       when(n.CreationTimestamp),
		Unschedulable:   n.Spec.Unschedulable,
	}
	if said.Architecture == "" {
		said.Architecture = word("architecture", info.Architecture)
	}
	if said.OperatingSystem == "" {
		said.OperatingSystem = word("operating_system", info.OperatingSystem)
	}
	t.field = "capacity"
	said.Capacity = t.quantities(n.Status.Capacity, "")
	t.field = "allocatable"
	said.Allocatable = t.quantities(n.Status.Allocatable, "")
	said.Taints = t.taints(n.Spec.Taints)
	said.Conditions = t.conditions(n.Status.Conditions)
	return &Node{Said: said, Labels: t.labels(n.Labels), Drops: t.drops}
}

// capacityType is what the machine's price depends on, as its cloud or its provisioner labels it.
func capacityType(label func(field string, keys ...string) string) string {
	const field = "capacity_type"
	if v := label(field, "karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType", "kubernetes.azure.com/scalesetpriority"); v != "" {
		return strings.ReplaceAll(strings.ToLower(v), "_", "-") // EKS writes ON_DEMAND
	}
	switch {
	case label(field, "cloud.google.com/gke-spot") == "true":
		return "spot"
	case label(field, "cloud.google.com/gke-preemptible") == "true":
		return "preemptible"
	}
	return ""
}

func (t *trimmer) taints(all []corev1.Taint) []observer.Taint {
	t.field = "taints"
	var made []observer.Taint
	for i, o := range list(t, all) {
		if t.fits(o.Key, MostKey, "key", i) && t.fits(o.Value, t.text(), "value", i) && t.fits(string(o.Effect), t.text(), "effect", i) {
			made = append(made, observer.Taint{Key: o.Key, Value: o.Value, Effect: string(o.Effect)})
		}
	}
	return sorted(made)
}

func (t *trimmer) conditions(all []corev1.NodeCondition) map[string]observer.Condition {
	t.field = "conditions"
	made := map[string]observer.Condition{}
	for i := range all {
		c := &all[i]
		switch c.Type {
		case corev1.NodeReady, corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable:
			status := string(corev1.ConditionUnknown)
			if c.Status == corev1.ConditionTrue || c.Status == corev1.ConditionFalse {
				status = string(c.Status)
			}
			said := observer.Condition{Status: status, Since: when(c.LastTransitionTime)}
			if t.fits(c.Reason, t.text(), string(c.Type), 0) {
				said.Reason = c.Reason
			}
			made[string(c.Type)] = said
		}
	}
	return made
}

func (t *trimmer) labels(all map[string]string) []Label {
	t.field = "labels"
	made := make([]Label, 0, len(all))
	for k, v := range all {
		if len(k) > MostKey || len(v) > t.text() {
			t.drop(false, k)
			continue
		}
		made = append(made, Label{name(k), name(v)})
	}
	slices.SortFunc(made, func(a, b Label) int { return strings.Compare(a.Key.Value(), b.Key.Value()) })
	return made
}

func when(t metav1.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	at := t.UTC().Truncate(time.Second)
	return &at
}
