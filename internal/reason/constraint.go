package reason

// Hardness says whether a constraint can be overridden by having no other choice.
type Hardness string

const (
	Hard Hardness = "hard" // stops
	Soft Hardness = "soft" // is weighed, or costs something; it never stops
)

// Scope says what a constraint is a property of, and so whose owner can change it.
type Scope string

const (
	ScopePod       Scope = "pod"
	ScopeWorkload  Scope = "workload"
	ScopeBudget    Scope = "budget"
	ScopeVolume    Scope = "volume"
	ScopeNode      Scope = "node"
	ScopeNamespace Scope = "namespace"
)

// Engine is what decides where pods are, or removes them.
type Engine string

const (
	Scheduler         Engine = "scheduler"
	Eviction          Engine = "eviction" // the API that kubectl drain and all others below use
	Karpenter         Engine = "karpenter"
	ClusterAutoscaler Engine = "cluster-autoscaler"
	Descheduler       Engine = "descheduler"
)

// Engines are all of them, in the order in which they are listed.
var Engines = []Engine{Scheduler, Eviction, Karpenter, ClusterAutoscaler, Descheduler}

// Group says in which part of the reference a constraint is.
type Group string

const (
	OnNodes   Group = "node"     // what the pod and the node are
	OnPods    Group = "pods"     // what other pods are
	OnStorage Group = "storage"  // what volumes are
	OnMoving  Group = "eviction" // what stops or costs the removal of a pod that runs
	OnPools   Group = "pool"     // what the one who makes and removes nodes was told
)

// Constraint is what is known of a code that keeps a pod from running elsewhere.
type Constraint struct {
	Code     Code
	Group    Group
	Title    string // a few words
	Sentence string // what it means and what to do, in a sentence or two
	Hardness Hardness
	Scope    Scope
	Engines  []Engine
	Rights   string // that a reader needs to see it, beside get on the pod itself; empty if none
}

// Anchor is where the reference explains it, from docs/reference on.
func (c Constraint) Anchor() string { return "reasons.md#" + string(c.Code) }

// ConstraintOf gives what is known of a code, and whether it is registered.
func ConstraintOf(code Code) (Constraint, bool) {
	i, ok := constraintIndex[code]
	if !ok {
		return Constraint{Code: code}, false
	}
	return Constraints[i], true
}

var constraintIndex = func() map[Code]int {
	index := make(map[Code]int, len(Constraints))
	for i, c := range Constraints {
		index[c.Code] = i
	}
	return index
}()
