package govern

import (
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Who is whoever asks for a run. The zero Who may target no environment.
type Who struct {
	Embedded bool   // berth run: the caller's kubeconfig is the boundary, and allow is not looked at
	Operator bool   // may target every environment; permits hold all the same
	Identity string // name of the token, or verified OIDC subject
	Pipeline string // stored pipeline, or the token's scope; never the name that a submitted file gives itself
}

// MayTarget says whether an environment may be the target. All lists that its allow has must match; a name
// that is empty matches nothing, not even *.
func (w Who) MayTarget(e *profile.Environment) bool {
	if w.Embedded || w.Operator {
		return true
	}
	allow := e.Allow
	if allow == nil || allow.Identities == nil && allow.Pipelines == nil {
		return false
	}
	return matches(allow.Identities, w.Identity) && matches(allow.Pipelines, w.Pipeline)
}

func matches(globs []profile.Glob, name string) bool {
	if globs == nil {
		return true
	}
	return name != "" && slices.ContainsFunc(globs, func(g profile.Glob) bool { return g.Match(name) })
}

// environment checks the target, and says whether there is any sense in looking at permits: not if there is
// no such environment, since all would be refused for the same reason, and not for those who may not target
// it, since the answers would tell what it permits.
func (a *admission) environment(who Who) bool {
	name := a.run.Expansion.Environment
	if name == "" {
		return true
	}
	e := a.operator.Environment(name)
	switch {
	case e == nil:
		f := unknownEnvironment(name, a.operator)
		a.add(a.target().Fault(f.Code, f.Fix, "%s", f.Message))
	case !who.MayTarget(e):
		a.add(a.target().Fault(finding.EnvironmentForbidden, "ask the cluster's operator; what the environment permits was not looked at",
			"you may not target the environment %s", name))
	default:
		return true
	}
	return false
}

// target is where the environment is named; nowhere if whoever asks named it.
func (a *admission) target() pipeline.Place {
	if f := a.run.Expansion.File; f != nil {
		return f.At("environment")
	}
	return pipeline.Place{Path: "environment"}
}
