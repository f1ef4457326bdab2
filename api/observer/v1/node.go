package v1

import "time"

// Node is a machine.
type Node struct {
	Name            string               `json:"name"`
	InstanceType    string               `json:"instance_type,omitempty"`
	CapacityType    string               `json:"capacity_type,omitempty"` // as the cloud has it, in lower case: on-demand, spot
	Zone            string               `json:"zone,omitempty"`
	Region          string               `json:"region,omitempty"`
	Architecture    string               `json:"architecture,omitempty"`
	OperatingSystem string               `json:"operating_system,omitempty"`
	KernelVersion   string               `json:"kernel_version,omitempty"`
	KubeletVersion  string               `json:"kubelet_version,omitempty"`
	CreatedAt       *time.Time           `json:"created_at,omitempty"`
	Capacity        Quantities           `json:"capacity,omitempty"`
	Allocatable     Quantities           `json:"allocatable,omitempty"`
	Taints          []Taint              `json:"taints,omitempty"`
	Unschedulable   bool                 `json:"unschedulable,omitempty"`
	Conditions      map[string]Condition `json:"conditions,omitempty"`
	// Labels are those that the placement of some record names, and those that were asked for.
	Labels     map[string]string `json:"labels,omitempty"`
	Incomplete []string          `json:"incomplete,omitempty"` // as in a Record
}

// Taint keeps pods that do not tolerate it away.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Condition is one of the five that Kubernetes has for every node.
type Condition struct {
	Status string     `json:"status"` // True, False or Unknown
	Reason string     `json:"reason,omitempty"`
	Since  *time.Time `json:"since,omitempty"`
}
