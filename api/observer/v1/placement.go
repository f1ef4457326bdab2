package v1

// Placement is what a pod asks of its node, reduced. Everything that is as in any other pod of any other
// cluster is absent: an unconstrained pod's is {}.
//
// Lists are sorted, since their order means nothing: two pods that ask for the same have the same bytes.
type Placement struct {
	NodeSelector    map[string]string `json:"node_selector,omitempty"`
	NodeAffinity    []NodeExpression  `json:"node_affinity,omitempty"`
	PodAffinity     []PodTerm         `json:"pod_affinity,omitempty"`
	PodAntiAffinity []PodTerm         `json:"pod_anti_affinity,omitempty"`
	TopologySpread  []Spread          `json:"topology_spread,omitempty"`
	Tolerations     []Toleration      `json:"tolerations,omitempty"`
	PriorityClass   string            `json:"priority_class,omitempty"`
	Priority        int32             `json:"priority,omitempty"` // as admission wrote it
	// TerminationGraceSeconds is absent for the 30 s that Kubernetes sets.
	TerminationGraceSeconds *int64   `json:"termination_grace_seconds,omitempty"`
	HostNetwork             bool     `json:"host_network,omitempty"`
	SchedulerName           string   `json:"scheduler_name,omitempty"` // absent for default-scheduler
	RuntimeClass            string   `json:"runtime_class,omitempty"`
	SchedulingGates         []string `json:"scheduling_gates,omitempty"`
	ResourceClaims          int      `json:"resource_claims,omitempty"`   // how many
	PreemptionPolicy        string   `json:"preemption_policy,omitempty"` // Never, or absent
}

// NodeExpression is one requirement of a node affinity. Expressions of the same Term must all hold; of
// several terms, one must. A term that is merely preferred (Required is false) keeps a pod from nowhere.
type NodeExpression struct {
	Key      string   `json:"key,omitempty"`
	Operator string   `json:"operator"` // of Kubernetes; or OperatorNothing
	Values   []string `json:"values,omitempty"`
	Required bool     `json:"required,omitempty"`
	Weight   int32    `json:"weight,omitempty"` // 1 to 100, of the term, not of each of its expressions
	Term     int      `json:"term,omitempty"`   // from 1; absent if there is one term. Required and preferred terms count apart
	Field    bool     `json:"field,omitempty"`  // Key is a field of the node, not a label
}

// OperatorNothing stands for a required term without expressions, which matches no node.
const OperatorNothing = "Nothing"

// PodTerm is a term of a pod affinity or anti-affinity. All required terms must hold.
type PodTerm struct {
	TopologyKey string `json:"topology_key"`
	Required    bool   `json:"required,omitempty"`
	Weight      int32  `json:"weight,omitempty"`
	Selects     string `json:"selects"`
	Namespaces  string `json:"namespaces"`
}

// What a selector selects, in place of the selector.
const (
	SelectsSelf  = "self"  // the workload's own pods, and maybe others
	SelectsOther = "other" // not the workload's own
	SelectsAll   = "all"   // every pod in the namespaces
	SelectsNone  = "none"  // there is no selector: no pod at all
)

// Where a pod term looks for pods.
const (
	NamespacesOwn      = "own"
	NamespacesListed   = "listed"   // by name
	NamespacesSelected = "selected" // by label; whether its own is among them is not known
	NamespacesAll      = "all"
)

// Spread is a topology spread constraint.
type Spread struct {
	TopologyKey        string `json:"topology_key"`
	MaxSkew            int32  `json:"max_skew"`
	WhenUnsatisfiable  string `json:"when_unsatisfiable"`    // DoNotSchedule is hard, ScheduleAnyway a preference
	MinDomains         int32  `json:"min_domains,omitempty"` // absent for 1
	Selects            string `json:"selects"`
	NodeAffinityPolicy string `json:"node_affinity_policy,omitempty"` // absent for Honor
	NodeTaintsPolicy   string `json:"node_taints_policy,omitempty"`   // absent for Ignore
}

// Toleration is one that somebody asked for: those that Kubernetes gives every pod are absent.
type Toleration struct {
	Key      string `json:"key,omitempty"` // absent: every taint
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`  // absent: every effect
	Seconds  *int64 `json:"seconds,omitempty"` // of NoExecute; absent: for ever
}
