package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// Now is how things are.
type Now struct {
	Evaluated string            `json:"evaluated" yaml:"evaluated,required" doc:"the pod that was held against the nodes: NAMESPACE/NAME; empty if there is none and it was made from the template"`
	Replicas  int               `json:"replicas" yaml:"replicas,required" doc:"that there should be; -1 if that is not known, or no fixed number"`
	Requests  map[string]string `json:"requests" yaml:"requests,required" doc:"of the evaluated pod, by resource"`
	Pods      []PodNow          `json:"pods" yaml:"pods,required" doc:"by name"`
	Machines  []Machine         `json:"machines" yaml:"machines,required" doc:"that they are on"`
}

// PodNow is where a pod is.
type PodNow struct {
	Name    string `json:"name" yaml:"name,required" doc:"of the pod"`
	Node    string `json:"node" yaml:"node,required" doc:"empty if it is on none"`
	Phase   string `json:"phase" yaml:"phase,required" doc:"Pending, Running, ..."`
	Waiting string `json:"waiting" yaml:"waiting,required" doc:"what the cluster itself says of why it waits; empty if it does not"`
}

// Machine is a node as it matters here.
type Machine struct {
	Name        string            `json:"name" yaml:"name,required" doc:"of the node"`
	Type        string            `json:"type" yaml:"type,required" doc:"instance type; empty if the node does not say"`
	Zone        string            `json:"zone" yaml:"zone,required" doc:"likewise"`
	Arch        string            `json:"arch" yaml:"arch,required" doc:"likewise"`
	Pool        string            `json:"pool" yaml:"pool,required" doc:"NodePool or node group, likewise"`
	Allocatable map[string]string `json:"allocatable" yaml:"allocatable,required" doc:"by resource"`
}

func (c *Cluster) now(w Ref, pods []*corev1.Pod, p *corev1.Pod, made bool) Now {
	n := Now{Replicas: int(c.replicas(w)), Requests: quantities(resourcehelpers.PodRequests(p, resourcehelpers.PodResourcesOptions{})), Pods: []PodNow{}, Machines: []Machine{}}
	if !made {
		n.Evaluated = p.Namespace + "/" + p.Name
	}
	if w.Kind == kindPod {
		n.Replicas = 1
	}
	seen := map[string]bool{}
	for _, q := range pods {
		n.Pods = append(n.Pods, PodNow{q.Name, q.Spec.NodeName, string(q.Status.Phase), waitingText(q)})
		if node := c.nodes[q.Spec.NodeName]; node != nil && !seen[node.Name] {
			seen[node.Name] = true
			n.Machines = append(n.Machines, machineOf(node))
		}
	}
	slices.SortFunc(n.Machines, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return n
}

func quantities(list corev1.ResourceList) map[string]string {
	m := map[string]string{}
	for name, q := range list {
		if !q.IsZero() {
			m[string(name)] = q.String()
		}
	}
	return m
}

// poolLabels tell the pool that a node is of, in several clouds.
var poolLabels = []string{"karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "devplane.berth.dev/pool", "node-group"}

func poolOf(n *corev1.Node) string {
	for _, label := range poolLabels {
		if name := n.Labels[label]; name != "" {
			return name
		}
	}
	return ""
}

func machineOf(n *corev1.Node) Machine {
	zone := n.Labels[corev1.LabelTopologyZone]
	if zone == "" {
		zone = n.Labels[corev1.LabelFailureDomainBetaZone]
	}
	return Machine{n.Name, n.Labels[corev1.LabelInstanceTypeStable], zone, n.Labels[corev1.LabelArchStable], poolOf(n), quantities(n.Status.Allocatable)}
}

// waitingText is what the cluster says itself of why a pod waits.
func waitingText(p *corev1.Pod) string {
	if p.Status.Phase != corev1.PodPending && p.Status.Phase != "" {
		return ""
	}
	for _, d := range p.Status.Conditions {
		if d.Type == corev1.PodScheduled && d.Status == corev1.ConditionFalse {
			return d.Message
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return strings.TrimSuffix(fmt.Sprintf("container %s: %s: %s", s.Name, w.Reason, w.Message), ": ")
		}
	}
	return ""
}
