package v1

import (
	"cmp"
)

// Key tells records apart. The digest separates builds; the variant separates a rollout that changes only
// placement, and pods that have no digest yet.
type Key struct {
	Namespace    string `json:"namespace"`
	WorkloadKind string `json:"workload_kind"` // of the topmost controller; Pod if there is none; Node for a mirror pod
	WorkloadName string `json:"workload_name"`
	Container    string `json:"container"`
	ImageDigest  string `json:"image_digest,omitempty"` // absent until the container has started
	Variant      string `json:"variant"`                // 12 hex digits of the SHA-256 of the placement's bytes
}

// Compare orders keys, field by field.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		cmp.Compare(k.Namespace, other.Namespace),
		cmp.Compare(k.WorkloadKind, other.WorkloadKind),
		cmp.Compare(k.WorkloadName, other.WorkloadName),
		cmp.Compare(k.Container, other.Container),
		cmp.Compare(k.ImageDigest, other.ImageDigest),
		cmp.Compare(k.Variant, other.Variant),
	)
}

// Record is one container of one workload, in one build and one variant of placement. Facts in which the
// pods under a key could differ (image, resources, ports, qos_class) are those of the oldest.
type Record struct {
	Key
	Image     string     `json:"image,omitempty"`
	Init      string     `json:"init,omitempty"` // InitSidecar, InitOnce; absent for a main container
	Resources *Resources `json:"resources,omitempty"`
	Ports     []Port     `json:"ports,omitempty"`
	Pod       Pod        `json:"pod"`
	// Incomplete names the fields from which something was left out, sorted: those of the record, and those
	// of its placement. They are not to be read as if nothing else were there.
	Incomplete []string `json:"incomplete,omitempty"`
}

// What Record.Init says.
const (
	InitSidecar = "sidecar" // starts before the main containers, and stays
	InitOnce    = "init"    // runs to its end before the main containers start
)

// Quantities are amounts by resource name. The suffix says the unit: cpu_milli, memory_bytes; counts, as of
// nvidia.com/gpu, have none.
type Quantities map[string]int64

// Resources are a container's or a pod's.
type Resources struct {
	Requests Quantities `json:"requests,omitempty"`
	Limits   Quantities `json:"limits,omitempty"`
}

// Port is one that a container declares.
type Port struct {
	Name     string `json:"name,omitempty"`
	Port     int32  `json:"port"`
	Protocol string `json:"protocol"`
	HostPort int32  `json:"host_port,omitempty"` // one pod for each node and port
	HostIP   string `json:"host_ip,omitempty"`
}

// Pod is about the pods under a record's key. Their containers' records each have it: adding it up over the
// containers of a workload counts each pod several times.
type Pod struct {
	QOSClass string         `json:"qos_class,omitempty"`
	Replicas int            `json:"replicas"`         // pods, whatever their phase
	Phases   map[string]int `json:"phases,omitempty"` // pods in each phase
	Nodes    map[string]int `json:"nodes,omitempty"`  // pods on each node
	// Unscheduled counts the pods that have no node, by why.
	Unscheduled map[string]int `json:"unscheduled,omitempty"`
	// UnscheduledCauses counts the pods whose scheduler named a cause. One pod may have several.
	UnscheduledCauses map[string]int `json:"unscheduled_causes,omitempty"`
	Resources         *Resources     `json:"resources,omitempty"` // of the pod as a whole, where it states them
	Overhead          Quantities     `json:"overhead,omitempty"`  // of its runtime class, on top
	Placement         *Placement     `json:"placement,omitempty"` // absent: nothing forbids another node
}

// Why a pod has no node.
const (
	ReasonUnschedulable   = "Unschedulable"   // the scheduler found no node
	ReasonSchedulingGated = "SchedulingGated" // a gate keeps it from the scheduler
	ReasonSchedulerError  = "SchedulerError"  // the scheduler failed
	ReasonOther           = "other"           // nobody has said anything yet, or something else
)

// Causes that a scheduler names.
const (
	CauseUntoleratedTaint   = "untolerated_taint"
	CauseNodeAffinity       = "node_affinity" // node selector or node affinity
	CauseInsufficientCPU    = "insufficient_cpu"
	CauseInsufficientMemory = "insufficient_memory"
	CauseInsufficientOther  = "insufficient_other"
	CausePodAffinity        = "pod_affinity"
	CausePodAntiAffinity    = "pod_anti_affinity" // its own, or that of a pod which is there
	CauseTopologySpread     = "topology_spread"
	CauseVolumeAffinity     = "volume_affinity"
	CausePorts              = "ports"
	CauseUnschedulableNode  = "unschedulable_node" // a cordoned one
	CauseTooManyPods        = "too_many_pods"
	CauseOther              = "other"
)

// Causes gives all causes, in the order of this file.
func Causes() []string {
	return []string{CauseUntoleratedTaint, CauseNodeAffinity, CauseInsufficientCPU, CauseInsufficientMemory, CauseInsufficientOther,
		CausePodAffinity, CausePodAntiAffinity, CauseTopologySpread, CauseVolumeAffinity, CausePorts, CauseUnschedulableNode,
		CauseTooManyPods, CauseOther}
}
