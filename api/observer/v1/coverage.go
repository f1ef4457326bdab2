package v1

import "time"

// Coverage says how much of the cluster the other two payloads are about, and how far they can be trusted.
// It is written every minute: an old one means that nobody is looking.
type Coverage struct {
	Envelope
	Since   time.Time `json:"since"` // when the observer started
	Version string    `json:"version"`
	Config  Config    `json:"config"`
	Sources []Source  `json:"sources"` // sorted by resource

	PodsSeen         int            `json:"pods_seen"`
	PodsExcluded     map[string]int `json:"pods_excluded,omitempty"`
	Records          int            `json:"records"`
	Variants         int            `json:"variants"` // distinct placements
	Nodes            int            `json:"nodes"`
	OwnersUnresolved int            `json:"owners_unresolved"` // pods whose owner could not be read
	NamespaceOptOut  string         `json:"namespace_opt_out"`

	PlacementValuesDropped int `json:"placement_values_dropped"`
	PlacementTermsDropped  int `json:"placement_terms_dropped"`
	NodesValuesDropped     int `json:"nodes_values_dropped"`

	Bytes  map[string]int `json:"bytes"`            // of the latest payload of each other kind
	Errors map[string]int `json:"errors,omitempty"` // since the start, by what failed
}

// Config is how the observer was told to behave: sizes and switches, never names.
type Config struct {
	Mode            string `json:"mode"`             // ModeCluster, or ModeNamespaces
	NamespacesAllow int    `json:"namespaces_allow"` // patterns; 0 allows all
	NamespacesDeny  int    `json:"namespaces_deny"`
	NodeLabels      int    `json:"node_labels"`
	StringBytes     int    `json:"string_bytes"`
	Spool           bool   `json:"spool"`
	Push            bool   `json:"push"`
	Metrics         bool   `json:"metrics"`
}

// What is watched.
const (
	ModeCluster    = "cluster"    // all of it
	ModeNamespaces = "namespaces" // some namespaces, with rights in these
)

// Source is one watch.
type Source struct {
	Resource string `json:"resource"`
	// Watches is how many there are of the resource: one, or one for each namespace.
	Watches int  `json:"watches"`
	Synced  bool `json:"synced"` // all of it was seen at least once
	// Failing is why it can't be seen now; absent if it can.
	Failing      string     `json:"failing,omitempty"`
	FailingSince *time.Time `json:"failing_since,omitempty"`
	// Interruptions counts how often the watch was lost and came back, since the start. What changed in
	// between and changed back was not seen.
	Interruptions int `json:"interruptions"`
}

// Why a source fails.
const (
	FailingForbidden   = "forbidden"   // no right to
	FailingUnreachable = "unreachable" // no answer
	FailingRefused     = "refused"     // another answer than what was asked for
)

// Why a pod is in no record.
const (
	ExcludedNamespaceFilter  = "namespace_filter"
	ExcludedNamespaceOptOut  = "namespace_opt_out"
	ExcludedOwnerOptOut      = "owner_opt_out"
	ExcludedPodOptOut        = "pod_opt_out"
	ExcludedNamespaceUnknown = "namespace_unknown" // held back until it is
	ExcludedNameTooLong      = "name_too_long"     // a part of its key is past its bound
)

// Whether the annotation that excludes a whole namespace was looked at.
const (
	OptOutEvaluated    = "evaluated"
	OptOutNotEvaluated = "not_evaluated" // namespaces can't be read
)

// What Coverage.Errors counts.
const (
	ErrorSpool  = "spool"  // a payload could not be written
	ErrorPush   = "push"   // a receiver did not take one
	ErrorConfig = "config" // a changed configuration was invalid, and the former one stays
)
