package explain

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelpers "k8s.io/component-helpers/resource"
)

// Together is whether all pods of a node fit elsewhere at once. They are placed one after another, the
// largest first, each on the fullest node that takes it: another order might do better.
type Together struct {
	Known    bool   `json:"known" yaml:"known,required" doc:"false if what could not be read leaves it open"`
	Fit      bool   `json:"fit" yaml:"fit,required" doc:"all of them found a place"`
	Homeless []Ref  `json:"homeless" yaml:"homeless,required" doc:"those that found none"`
	Note     string `json:"note" yaml:"note,required" doc:"how it was tried"`
}

// together tries to place all pods of the node elsewhere.
func (c *Cluster) together(name string, pods []*corev1.Pod) Together {
	t := Together{Known: true, Fit: true, Homeless: []Ref{}, Note: "placed one after another, the largest first"}
	names := make([]types.NamespacedName, len(pods))
	for i, p := range pods {
		names[i] = types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	}
	s := c.snapshot.Without(names...)
	for _, p := range largestFirst(pods) {
		moved := p.DeepCopy()
		moved.Spec.NodeName = ""
		best, most := "", 0.0 // as full as it was at first, which decides only what is tried
		for _, v := range s.Explain(moved) {
			if v.Node == name {
				continue
			}
			if len(v.NotKnown) > 0 && len(v.Reasons) == 0 {
				t.Known = false
			}
			if !v.Fits() {
				continue
			}
			if full := c.share(v.Node); best == "" || full > most {
				best, most = v.Node, full
			}
		}
		if best == "" {
			t.Fit = false
			t.Homeless = append(t.Homeless, Ref{kindPod, p.Namespace, p.Name})
			continue
		}
		s = s.With(moved, best)
	}
	return t
}

// largestFirst orders pods by what they request.
func largestFirst(pods []*corev1.Pod) []*corev1.Pod {
	type sized struct {
		*corev1.Pod
		memory, cpu int64
	}
	all := make([]sized, len(pods))
	for i, p := range pods {
		r := resourcehelpers.PodRequests(p, resourcehelpers.PodResourcesOptions{})
		all[i] = sized{p, r.Memory().Value(), r.Cpu().MilliValue()}
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Or(cmp.Compare(b.memory, a.memory), cmp.Compare(b.cpu, a.cpu)) })
	sorted := make([]*corev1.Pod, len(all))
	for i, s := range all {
		sorted[i] = s.Pod
	}
	return sorted
}

// requestedBy adds up requests.
func requestedBy(pods []*corev1.Pod) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, p := range pods {
		for name, q := range resourcehelpers.PodRequests(p, resourcehelpers.PodResourcesOptions{}) {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	return sum
}

// share is how much of a node is requested, from 0 to 1: of cpu or memory, whichever is more. Pods that go
// with the node do not count.
func (c *Cluster) share(node string) float64 { return c.shareOf(c.nodes[node]) }

func (c *Cluster) shareOf(n *corev1.Node) float64 {
	var pods []*corev1.Pod
	for _, p := range c.onNode[n.Name] {
		if !isDaemon(p) && !isMirror(p) {
			pods = append(pods, p)
		}
	}
	sum, most := requestedBy(pods), 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		has, requested := n.Status.Allocatable[name], sum[name]
		if has.Sign() > 0 {
			most = max(most, requested.AsApproximateFloat64()/has.AsApproximateFloat64())
		}
	}
	return most
}
