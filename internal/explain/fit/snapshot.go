package fit

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Objects is what a verdict depends on beside the pod. A slice that is nil could not be read, and
// verdicts that need it say so; an empty one says that there are none. Pods are as the API server has
// them: defaulted, and with the label keys of matchLabelKeys merged or not.
type Objects struct {
	Nodes       []*corev1.Node
	Pods        []*corev1.Pod
	Namespaces  []*corev1.Namespace
	Claims      []*corev1.PersistentVolumeClaim
	Volumes     []*corev1.PersistentVolume
	Classes     []*storagev1.StorageClass
	CSINodes    []*storagev1.CSINode
	CSIDrivers  []*storagev1.CSIDriver
	Attachments []*storagev1.VolumeAttachment
	Capacities  []*storagev1.CSIStorageCapacity

	DeviceClasses []*resourcev1.DeviceClass
}

// Snapshot is a cluster at one moment, indexed. It is never written to again and may be used from
// several goroutines; its objects must not be changed.
type Snapshot struct {
	*index
	gone  map[*carried]bool             // pods of the index that count as not there
	more  []*carried                    // pods that count as there
	moved map[types.NamespacedName]bool // pods that no node is promised to any more
}

// NewSnapshot indexes the objects. The time that takes is linear in their number.
func NewSnapshot(o Objects) *Snapshot { return &Snapshot{index: newIndex(o)} }

// Nodes gives the nodes, by name.
func (s *Snapshot) Nodes() []*corev1.Node {
	nodes := make([]*corev1.Node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = n.Node
	}
	return nodes
}

// Without is the cluster as if these pods were gone. All else is shared.
func (s *Snapshot) Without(pods ...types.NamespacedName) *Snapshot {
	t := s.fork()
	for _, name := range pods {
		t.drop(s.bound[name])
		t.moved[name] = true
		t.more = slices.DeleteFunc(t.more, func(c *carried) bool { return c.name() == name })
	}
	return t
}

// With is the cluster as if the pod were bound to the node, and nowhere else. All else is shared. A node
// that is not there carries nothing.
func (s *Snapshot) With(pod *corev1.Pod, node string) *Snapshot {
	t, _ := s.without(pod)
	t.moved[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = true
	if n := s.byName[node]; n != nil {
		t.more = append(t.more, carry(pod, n))
	}
	return t
}

// without is the cluster as if the pod itself were not on any node, and whether it is on one.
func (s *Snapshot) without(pod *corev1.Pod) (*Snapshot, bool) {
	t := s.fork()
	t.drop(s.bound[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}])
	if pod.UID != "" {
		t.drop(s.boundUID[pod.UID])
	}
	t.more = slices.DeleteFunc(t.more, func(c *carried) bool { return same(c.Pod, pod) })
	return t, len(t.gone) > len(s.gone) || len(t.more) < len(s.more)
}

// same says whether two objects are one pod.
func same(a, b *corev1.Pod) bool {
	return a.UID != "" && a.UID == b.UID || a.Namespace == b.Namespace && a.Name == b.Name
}

func (s *Snapshot) fork() *Snapshot {
	t := &Snapshot{s.index, map[*carried]bool{}, slices.Clone(s.more), map[types.NamespacedName]bool{}}
	maps.Copy(t.gone, s.gone)
	maps.Copy(t.moved, s.moved)
	return t
}

func (s *Snapshot) drop(c *carried) {
	if c != nil {
		s.gone[c] = true
	}
}
