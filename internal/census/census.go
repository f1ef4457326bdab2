package census

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/explain"
)

// Census collects objects. It is not for several goroutines.
type Census struct {
	facts    explain.Facts
	read     map[string]bool // resources of which something was read, or the whole list
	ignored  map[string]int  // objects of other kinds
	owners   map[explain.Ref]bool
	names    map[explain.Ref]bool
	twice    []string
	cluster  bool   // it came from an API server, so that what is not there does not exist
	fallback string // namespace of objects that name none
}

// New begins a census. Objects of a namespace that name none are in the given one.
func New(namespace string) *Census {
	return &Census{read: map[string]bool{}, ignored: map[string]int{}, owners: map[explain.Ref]bool{}, names: map[explain.Ref]bool{}, fallback: namespace}
}

// Listed says that all objects of a resource have been read: those that were added are all there are.
func (c *Census) Listed(resource string) { c.read[resource] = true }

// Unread says that a resource could not be read.
func (c *Census) Unread(u explain.Unread) { c.facts.Unread = append(c.facts.Unread, u) }

// Ignored counts an object of a kind that says nothing about placement.
func (c *Census) Ignored(kind string) { c.ignored[kind]++ }

// Notices are what should be said about what was read.
func (c *Census) Notices() []string {
	var all []string
	if len(c.ignored) > 0 {
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(c.ignored)) {
			parts = append(parts, fmt.Sprintf("%s (%d)", kind, c.ignored[kind]))
		}
		all = append(all, "not looked at, since they say nothing about placement: "+strings.Join(parts, ", "))
	}
	if len(c.twice) > 0 {
		all = append(all, "read twice, the first one counts: "+strings.Join(c.twice[:min(len(c.twice), 5)], ", "))
	}
	return all
}

// Add takes an object, which belongs to the census from then on.
func (c *Census) Add(object any) {
	if h, ok := object.(*header); ok {
		c.header(h)
		return
	}
	m, ok := object.(metav1.Object)
	if !ok {
		return
	}
	k := c.kindOf(object)
	if k == nil {
		return
	}
	if namespaced(k) && m.GetNamespace() == "" {
		m.SetNamespace(c.fallback)
	}
	ref := explain.Ref{Kind: k.name, Namespace: m.GetNamespace(), Name: m.GetName()}
	if c.names[ref] {
		c.twice = append(c.twice, ref.String())
		return
	}
	c.names[ref] = true
	c.read[k.resource] = true
	c.add(object)
}

func (c *Census) kindOf(object any) *kind {
	want := fmt.Sprintf("%T", object)
	if i, ok := kindByType[want]; ok {
		return &kinds[i]
	}
	return nil
}

var kindByType = func() map[string]int {
	all := map[string]int{}
	for i, k := range kinds {
		all[fmt.Sprintf("%T", k.empty())] = i
	}
	return all
}()

func namespaced(k *kind) bool {
	switch k.name {
	case "Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "VolumeAttachment", "RuntimeClass", "NodePool", "NodeClaim":
		return false
	}
	return true
}

// add keeps what counts of an object.
func (c *Census) add(object any) {
	f := &c.facts
	switch o := object.(type) {
	case *corev1.Pod:
		pod(o)
		f.Pods = append(f.Pods, o)
	case *corev1.Node:
		node(o)
		f.Nodes = append(f.Nodes, o)
	case *corev1.Namespace:
		meta(&o.ObjectMeta)
		f.Namespaces = append(f.Namespaces, &corev1.Namespace{ObjectMeta: o.ObjectMeta})
	case *corev1.PersistentVolumeClaim:
		meta(&o.ObjectMeta)
		f.Claims = append(f.Claims, o)
	case *corev1.PersistentVolume:
		meta(&o.ObjectMeta)
		persistent(o)
		f.Volumes = append(f.Volumes, o)
	case *storagev1.StorageClass:
		meta(&o.ObjectMeta)
		o.Parameters = nil
		f.Classes = append(f.Classes, o)
	case *storagev1.CSINode:
		meta(&o.ObjectMeta)
		f.CSINodes = append(f.CSINodes, o)
	case *storagev1.CSIDriver:
		meta(&o.ObjectMeta)
		f.CSIDrivers = append(f.CSIDrivers, o)
	case *storagev1.VolumeAttachment:
		meta(&o.ObjectMeta)
		f.Attachments = append(f.Attachments, o)
	case *storagev1.CSIStorageCapacity:
		meta(&o.ObjectMeta)
		f.Capacities = append(f.Capacities, o)
	case *policyv1.PodDisruptionBudget:
		meta(&o.ObjectMeta)
		f.Budgets = append(f.Budgets, o)
	case *nodev1.RuntimeClass:
		class := &explain.RuntimeClass{Name: o.Name}
		if s := o.Scheduling; s != nil {
			class.NodeSelector, class.Tolerations = s.NodeSelector, s.Tolerations
		}
		f.RuntimeClasses = append(f.RuntimeClasses, class)
	case *NodePool:
		f.NodePools = append(f.NodePools, o.fact())
	case *NodeClaim:
		f.NodeClaims = append(f.NodeClaims, o.fact())
	case *corev1.ConfigMap:
		c.status(o)
	default:
		c.owner(object)
	}
}

// persistent keeps of a volume where it is, and not how it is reached.
func persistent(v *corev1.PersistentVolume) {
	s := &v.Spec
	if s.CSI != nil {
		s.CSI = &corev1.CSIPersistentVolumeSource{Driver: s.CSI.Driver, VolumeHandle: s.CSI.VolumeHandle}
	}
	if s.ISCSI != nil {
		s.ISCSI.SecretRef = nil
	}
	if s.RBD != nil {
		s.RBD.SecretRef = nil
	}
	s.CephFS, s.AzureFile, s.FlexVolume, s.ScaleIO, s.StorageOS = nil, nil, nil, nil, nil
}

// AddOwn takes a pod of the namespace that is asked about, where those of others can't be read: it can be
// asked about, and what is on nodes stays not known.
func (c *Census) AddOwn(object any) {
	if p, ok := object.(*corev1.Pod); ok {
		pod(p)
		c.facts.OwnPods = append(c.facts.OwnPods, p)
	}
}

// AddUntyped takes an object as a client has it: typed, or of a custom resource.
func (c *Census) AddUntyped(object any) error {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		c.Add(object)
		return nil
	}
	typed, _, err := decodeTree(u.Object)
	if err != nil {
		return fmt.Errorf("%s %s: %s", u.GetKind(), u.GetName(), oneLine(err))
	}
	if typed != nil {
		c.Add(typed)
	}
	return nil
}
