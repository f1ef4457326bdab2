package fit

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Reason is one reason why a pod can't run on a node. Which of its fields are set depends on Kind;
// Kind, Plugin and what String needs always are.
type Reason struct {
	Kind   Kind
	Plugin Plugin
	Path   string // of the field of the pod that demands it, as in spec.affinity.podAffinity; "" if it is not the pod's
	Other  *Ref   // what else it takes: the node's taint, the pod with the port, whose rule repels, the volume or claim
	More   int    // how many more there are like Other
	Words  string // the scheduler's own, in its message; "" if it stops looking before

	Name     string        // NodeName: the nodes that the pod is for; else of what is missing: a gate, driver or feature
	Taint    *corev1.Taint // Taint
	Label    *Requirement  // NodeSelector; NodeName by nodeSelector
	Terms    []Term        // NodeAffinity, Contradiction, NodeName by affinity: all of the pod's terms, in its order
	Amount   *Amount       // Resources and PodCount
	Port     *Port         // HostPort
	Topology *Topology     // Spread, TopologyMissing, PodAffinity and anti-affinities
	Skew     *Skew         // Spread
	Volumes  *Volumes      // AttachLimit

	stage   stage
	text    string // what it is about, in words
	nowhere bool   // PodAffinity: there are no such pods in any domain
	void    bool   // TopologyMissing: a rule that holds nothing back here
}

// Ref names an object of the cluster.
type Ref struct {
	Kind, Namespace, Name string
	Path                  string // of its field, if it is one
}

// Amount is why a resource does not suffice: Requested > Allocatable - Used.
type Amount struct {
	Resource    corev1.ResourceName
	Requested   resource.Quantity
	Allocatable resource.Quantity // 0 if the node does not have the resource
	Used        resource.Quantity // by the pods on the node; 0 where these are not looked at
}

// Port is a port of the machine. Address is 0.0.0.0 for all.
type Port struct {
	Address  string
	Protocol corev1.Protocol
	Number   int32
}

// Topology is the domain that a node is in.
type Topology struct {
	Key   string
	Value string
	There bool // whether the node has the label
}

// Skew is why a domain can't have one pod more: Matching + Self - Least > Most.
type Skew struct {
	Matching int // pods in the node's domain
	Self     int // 1 if the pod counts itself
	Least    int // pods in the domain that has the fewest; 0 if there are fewer domains than MinDomains
	Most     int // maxSkew

	Domains    int // that count
	MinDomains int // 1 if it is not set
	// How domains are chosen, as it is in effect.
	AffinityPolicy, TaintsPolicy corev1.NodeInclusionPolicy
}

// Volumes is how many volumes of a driver a node may have attached: Attached + New > Limit.
type Volumes struct {
	Driver               string
	Attached, New, Limit int
}

// Term is a node selector term that does not match.
type Term struct {
	Unmet []Requirement // those that would fail alone; none if the term is empty and so matches nothing
}

// Requirement is what a pod wants of a label, or of a field, of the node, and what is there.
type Requirement struct {
	Key      string
	Operator corev1.NodeSelectorOperator
	Values   []string
	Field    bool // a field of the node, not a label
	Invalid  bool // Kubernetes can't make sense of it, and matches nothing

	Has   string // the node's value
	There bool   // whether the node has one
}
