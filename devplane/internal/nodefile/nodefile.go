// Package nodefile reads the node file: the pools of nodes that a devplane starts.
//
// A node file is strict YAML. Unknown keys, duplicate keys, wrong types and values that
// Kubernetes would refuse are errors with line and column, all of them at once, before any
// process is started. Names of nodes follow from the file alone: POOL-0, POOL-1, and so on.
package nodefile

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Kind says what stands behind a node.
type Kind string

const (
	// Real is the real kubelet over containerd and runc. Linux and root only.
	Real Kind = "real"
	// Process runs the containers of a pod as processes of this machine.
	Process Kind = "process"
	// Scale completes a pod after Pool.RunFor without running anything.
	Scale Kind = "scale"
)

// File is a whole node file.
type File struct {
	Pools []Pool
}

// Pool is a set of nodes that are alike.
type Pool struct {
	Name   string
	Kind   Kind
	Count  int
	Labels map[string]string
	Taints []corev1.Taint
	// Capacity is what each node reports as capacity and as allocatable. On a real node, cpu,
	// memory and ephemeral-storage are what the machine has unless the file gives less.
	Capacity corev1.ResourceList
	// RunFor is how long a pod on a scale node runs before it succeeds.
	RunFor time.Duration
}

// Node is one node of a pool.
type Node struct {
	Name     string              `json:"name"`
	Pool     string              `json:"pool"`
	Kind     Kind                `json:"kind"`
	Labels   map[string]string   `json:"labels,omitempty"`
	Taints   []corev1.Taint      `json:"taints,omitempty"`
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	RunFor   time.Duration       `json:"run_for,omitempty"` // nanoseconds
}

// Nodes expands the pools, in the order of the file.
func (f *File) Nodes() []Node {
	var nodes []Node
	for _, p := range f.Pools {
		for i := range p.Count {
			nodes = append(nodes, Node{
				Name: fmt.Sprintf("%s-%d", p.Name, i), Pool: p.Name, Kind: p.Kind,
				Labels: p.Labels, Taints: p.Taints, Capacity: p.Capacity, RunFor: p.RunFor,
			})
		}
	}
	return nodes
}
