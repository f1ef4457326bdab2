package explain

import (
	"github.com/berthdev/berth/internal/reason"
)

// Constraint is a fact that keeps a workload from running elsewhere, or that would have to be reckoned with.
type Constraint struct {
	Code     reason.Code     `json:"code" yaml:"code,required" doc:"what it is; docs/reference/reasons.md has all codes"`
	Hardness reason.Hardness `json:"hardness" yaml:"hardness,required" doc:"hard stops; soft is weighed, or costs something"`
	Scope    reason.Scope    `json:"scope" yaml:"scope,required" doc:"what it is a property of: pod, workload, budget, volume, node or namespace"`
	Actor    Actor           `json:"actor" yaml:"actor,required" doc:"who is behind it: author, controller, injected, berth:LAYER or unknown"`
	Engines  []reason.Engine `json:"engines" yaml:"engines,required" doc:"which engines it binds"`
	Source   Source          `json:"source" yaml:"source,required" doc:"the object and the field that it comes from"`
	Message  string          `json:"message" yaml:"message,required" doc:"a sentence"`
	Notes    []string        `json:"notes,omitempty" yaml:"notes" doc:"where engines disagree about it, and since which version that is known"`
}

// Source is the object that a constraint comes from, and where in it.
type Source struct {
	Ref
	Path string `json:"path" yaml:"path,required" doc:"of the field; empty if it is the object as a whole"`
}

// Actor is who is behind a constraint.
type Actor string

const (
	Author     Actor = "author"     // whoever wrote the workload, budget or volume
	Controller Actor = "controller" // a controller of Kubernetes
	Injected   Actor = "injected"   // a webhook or an admission plugin: the pod has it, and what it was made from has not
	Unknown    Actor = "unknown"
	berthLayer       = "berth:" // and the layer
)

// constraint fills in what the registry knows of the code.
func constraint(code reason.Code, actor Actor, source Source, message string) Constraint {
	known, ok := reason.ConstraintOf(code)
	if !ok {
		known.Hardness, known.Scope, known.Engines = reason.Hard, reason.ScopePod, []reason.Engine{reason.Scheduler}
	}
	return Constraint{Code: code, Hardness: known.Hardness, Scope: known.Scope, Actor: actor, Engines: known.Engines,
		Source: source, Message: message, Notes: disagreements(code)}
}
