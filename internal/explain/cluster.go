package explain

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/explain/fit"
)

// Cluster is facts that can be asked. It is not written to, and may be used by several goroutines.
type Cluster struct {
	facts     Facts
	snapshot  *fit.Snapshot
	nodes     map[string]*corev1.Node
	owners    map[Ref]*Owner
	byUID     map[types.UID]*Owner
	workloads map[Ref][]*corev1.Pod // by top controller; pods by name
	onNode    map[string][]*corev1.Pod
	budgets   map[string][]budget    // by namespace
	pods      map[string]*corev1.Pod // by namespace/name, as claims
	claims    map[string]*corev1.PersistentVolumeClaim
	volumes   map[string]*corev1.PersistentVolume
	hosts     map[string]bool // names of nodes, and their hostname labels
}

// Ref names an object. A namespace is empty where the kind has none.
type Ref struct {
	Kind      string `json:"kind" yaml:"kind,required" doc:"of the object: Pod, Deployment, PodDisruptionBudget, Node, ..."`
	Namespace string `json:"namespace" yaml:"namespace,required" doc:"empty if the kind has none"`
	Name      string `json:"name" yaml:"name,required" doc:"of the object"`
}

// String is how kubectl would write it: deployment/web in shop.
func (r Ref) String() string {
	s := strings.ToLower(r.Kind) + "/" + r.Name
	if r.Namespace != "" {
		s += " in " + r.Namespace
	}
	return s
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// budget is a PodDisruptionBudget with its selector.
type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
}

// New indexes facts.
func New(f Facts) *Cluster {
	c := &Cluster{facts: f, snapshot: fit.NewSnapshot(f.Objects), nodes: map[string]*corev1.Node{}, owners: map[Ref]*Owner{},
		byUID: map[types.UID]*Owner{}, workloads: map[Ref][]*corev1.Pod{}, onNode: map[string][]*corev1.Pod{}, budgets: map[string][]budget{},
		pods: map[string]*corev1.Pod{}, claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{}, hosts: map[string]bool{}}
	for _, n := range f.Nodes {
		c.nodes[n.Name] = n
		c.hosts[n.Name], c.hosts[n.Labels[corev1.LabelHostname]] = true, true
	}
	for _, o := range f.Objects.Claims {
		c.claims[o.Namespace+"/"+o.Name] = o
	}
	for _, o := range f.Volumes {
		c.volumes[o.Name] = o
	}
	for _, o := range f.Owners {
		c.owners[Ref{o.Kind, o.Namespace, o.Name}] = o
		if o.UID != "" {
			c.byUID[o.UID] = o
		}
	}
	pods := f.Pods
	if pods == nil {
		pods = f.OwnPods
	}
	for _, p := range pods {
		c.pods[p.Namespace+"/"+p.Name] = p
		if ended(p) {
			continue
		}
		top := c.WorkloadOf(p)
		c.workloads[top] = append(c.workloads[top], p)
		if p.Spec.NodeName != "" {
			c.onNode[p.Spec.NodeName] = append(c.onNode[p.Spec.NodeName], p)
		}
	}
	for _, pods := range c.workloads {
		slices.SortFunc(pods, comparePods)
	}
	for _, pods := range c.onNode {
		slices.SortFunc(pods, comparePods)
	}
	for _, b := range f.Budgets {
		selector := labels.Nothing()
		if b.Spec.Selector != nil { // an empty one selects all pods of the namespace, none selects none
			if s, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil {
				selector = s
			}
		}
		c.budgets[b.Namespace] = append(c.budgets[b.Namespace], budget{b, selector})
	}
	for _, list := range c.budgets {
		slices.SortFunc(list, func(a, b budget) int { return cmp.Compare(a.Name, b.Name) })
	}
	return c
}

func comparePods(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ended says whether the pod occupies nothing any more.
func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Workloads are all that have pods which have not ended, in order.
func (c *Cluster) Workloads() []Ref {
	var all []Ref
	for ref := range c.workloads {
		all = append(all, ref)
	}
	slices.SortFunc(all, compareRefs)
	return all
}

// budgetsOf gives the budgets that have the pod.
func (c *Cluster) budgetsOf(p *corev1.Pod) []budget {
	var all []budget
	for _, b := range c.budgets[p.Namespace] {
		if b.selector.Matches(labels.Set(p.Labels)) {
			all = append(all, b)
		}
	}
	return all
}
