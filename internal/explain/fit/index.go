package fit

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// index is the objects in the order and by the keys that rules ask for.
type index struct {
	Objects
	nodes  []*node // by name
	byName map[string]*node

	// The scheduler forgets pods that have ended, and knows of no pods on nodes that are not there.
	pods        []*carried // by namespace and name
	byNamespace map[string][]*carried
	bound       map[types.NamespacedName]*carried
	boundUID    map[types.UID]*carried
	rulesIn     map[string][]rule        // of required anti-affinity, by the namespace whose pods they mean
	rulesAny    []rule                   // those that mean pods of namespaces with some labels, or of all
	nominated   map[string][]*corev1.Pod // that wait, by the node that the scheduler has promised them

	namespaces map[string]*corev1.Namespace
	claims     map[types.NamespacedName]*corev1.PersistentVolumeClaim
	volumes    map[string]*corev1.PersistentVolume
	ofClass    map[string][]*corev1.PersistentVolume // by name
	classes    map[string]*storagev1.StorageClass
	csiNodes   map[string]*storagev1.CSINode
	csiDrivers map[string]*storagev1.CSIDriver
	attached   map[string][]*storagev1.VolumeAttachment // by node
}

// node is a node and what it carries.
type node struct {
	*corev1.Node
	number int // its place among the nodes
	room   amounts
	used   amounts
	pods   []*carried
}

// rule is a term of the required anti-affinity of a pod that is on a node.
type rule struct {
	*carried
	*podTerm
}

// carried is a pod that counts on a node.
type carried struct {
	*corev1.Pod
	node   *node
	takes  amounts
	repels []podTerm // the terms of its required anti-affinity
}

func (c *carried) name() types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

func (c *carried) ref(path string) *Ref {
	return &Ref{Kind: "Pod", Namespace: c.Namespace, Name: c.Name, Path: path}
}

func newIndex(o Objects) *index {
	x := &index{Objects: o, byName: make(map[string]*node, len(o.Nodes)),
		byNamespace: map[string][]*carried{}, bound: make(map[types.NamespacedName]*carried, len(o.Pods)), boundUID: make(map[types.UID]*carried, len(o.Pods)),
		nominated: map[string][]*corev1.Pod{}, rulesIn: map[string][]rule{}}
	for _, n := range o.Nodes {
		x.nodes = append(x.nodes, &node{Node: n, room: allocatable(n)})
	}
	slices.SortFunc(x.nodes, func(a, b *node) int { return cmp.Compare(a.Name, b.Name) })
	for i, n := range x.nodes {
		n.number, x.byName[n.Name] = i, n
	}
	x.addPods(o.Pods)
	x.addStorage(o)
	x.namespaces = make(map[string]*corev1.Namespace, len(o.Namespaces))
	for _, n := range o.Namespaces {
		x.namespaces[n.Name] = n
	}
	return x
}

func (x *index) addPods(pods []*corev1.Pod) {
	for _, p := range pods {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		n := x.byName[p.Spec.NodeName]
		switch {
		case ended:
		case n != nil:
			x.pods = append(x.pods, carry(p, n))
		case p.Spec.NodeName == "" && p.Status.NominatedNodeName != "":
			x.nominated[p.Status.NominatedNodeName] = append(x.nominated[p.Status.NominatedNodeName], p)
		}
	}
	slices.SortFunc(x.pods, func(a, b *carried) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, c := range x.pods {
		x.bound[c.name()], x.boundUID[c.UID] = c, c
		x.byNamespace[c.Namespace] = append(x.byNamespace[c.Namespace], c)
		c.node.pods = append(c.node.pods, c)
		c.node.used = c.node.used.plus(c.takes)
		for i := range c.repels {
			x.addRule(rule{c, &c.repels[i]})
		}
	}
}

func (x *index) addRule(r rule) {
	if _, selectable := r.namespaceSelector.Requirements(); selectable {
		x.rulesAny = append(x.rulesAny, r)
		return
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.namespaces))) {
		x.rulesIn[name] = append(x.rulesIn[name], r)
	}
}

// carry is a pod on a node.
func carry(p *corev1.Pod, n *node) *carried {
	repels, _ := antiAffinityTerms(p) // the scheduler, too, lets pods be whose rules it can't read
	return &carried{Pod: p, node: n, takes: taken(p), repels: repels}
}

func (x *index) addStorage(o Objects) {
	x.claims = make(map[types.NamespacedName]*corev1.PersistentVolumeClaim, len(o.Claims))
	for _, c := range o.Claims {
		x.claims[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}] = c
	}
	x.volumes, x.ofClass = named(o.Volumes), map[string][]*corev1.PersistentVolume{}
	for _, v := range slices.SortedFunc(slices.Values(o.Volumes), func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) }) {
		class := classOfVolume(v)
		x.ofClass[class] = append(x.ofClass[class], v)
	}
	x.classes, x.csiNodes, x.csiDrivers = named(o.Classes), named(o.CSINodes), named(o.CSIDrivers)
	x.attached = map[string][]*storagev1.VolumeAttachment{}
	for _, a := range o.Attachments {
		x.attached[a.Spec.NodeName] = append(x.attached[a.Spec.NodeName], a)
	}
}

func named[T interface{ GetName() string }](list []T) map[string]T {
	m := make(map[string]T, len(list))
	for _, v := range list {
		m[v.GetName()] = v
	}
	return m
}
