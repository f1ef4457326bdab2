package v1

import "time"

// Schema is the version of the protocol, in every payload.
const Schema = 1

// Kinds of payload. Each goes to a file of its name.
const (
	KindWorkloads = "workload_metadata"
	KindNodes     = "node_metadata"
	KindCoverage  = "coverage"
)

// Kinds gives all kinds, sorted.
func Kinds() []string { return []string{KindCoverage, KindNodes, KindWorkloads} }

// Sources of what a payload says.
const (
	SourceStructural = "structural" // the cluster's objects, reduced
	SourceObserver   = "observer"   // the observer itself
)

// Envelope is what every payload begins with.
type Envelope struct {
	Kind       string    `json:"kind"`
	Schema     int       `json:"schema"`
	Source     string    `json:"source"`
	Cluster    string    `json:"cluster,omitempty"` // UID of the namespace kube-system; absent if unknown
	CapturedAt time.Time `json:"captured_at"`       // UTC, whole seconds
}

// NewEnvelope begins a payload.
func NewEnvelope(kind, cluster string, at time.Time) Envelope {
	source := SourceStructural
	if kind == KindCoverage {
		source = SourceObserver
	}
	return Envelope{Kind: kind, Schema: Schema, Source: source, Cluster: cluster, CapturedAt: at.UTC().Truncate(time.Second)}
}

// WorkloadMetadata says what was asked for, which machines answered, and what forbids a different answer.
type WorkloadMetadata struct {
	Envelope
	Records []Record `json:"records"` // sorted by Key
}

// NodeMetadata says what the machines are.
type NodeMetadata struct {
	Envelope
	Nodes []Node `json:"nodes"` // sorted by name
}
