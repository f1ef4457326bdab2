package govern

import (
	"fmt"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Run is a compiled run.
type Run struct {
	Expansion *pipeline.Expansion
	Steps     []Step // one for each of Expansion.Steps
}

// Step is a compiled step: what was written, and the pod that its layers come to.
type Step struct {
	Instance *pipeline.Instance
	Fragment map[string]any     // of all layers
	Origins  []placement.Origin // of Fragment
}

// Admit decides whether the run may exist: it may if no finding is an error. Fragments are to be without
// errors of their own; one that is no pod is refused. steps has the findings that are about one step, for
// each of the run's; all has these too.
func Admit(run Run, who Who, operator *profile.File) (all finding.List, steps []finding.List) {
	a := admission{run: run, operator: operator, bounds: newBounds(operator.Limits), security: newSecurity(operator.PodSecurity)}
	governed := a.environment(who)
	whole := a.findings
	steps = make([]finding.List, len(run.Steps))
	for i := range run.Steps {
		a.findings = nil
		step := &run.Steps[i]
		a.names(step)
		if governed {
			a.permits(step)
		}
		a.pod(step)
		steps[i] = finding.Of(a.findings...)
		whole = append(whole, a.findings...)
	}
	return finding.Of(whole...), steps
}

type admission struct {
	run      Run
	operator *profile.File
	bounds   bounds
	security security
	findings []finding.Finding
}

func (a *admission) add(findings ...finding.Finding) { a.findings = append(a.findings, findings...) }

// names refuses profiles and pools that the operator file does not have.
func (a *admission) names(step *Step) {
	listed := step.Instance.At("placement_profiles")
	for i, name := range step.Instance.PlacementProfiles {
		if a.operator.Profile(name) == nil {
			known := a.operator.ProfileNames()
			a.add(listed.Item(i).Fault(finding.ProfileUnknown, nearest(name, known, "placement_profiles"), "there is no placement profile %q", name))
		}
	}
	if name := step.Instance.Pool; name != "" && a.operator.Pool(name) == nil {
		a.add(step.Instance.At("pool").Fault(finding.PoolUnknown, nearest(name, a.operator.PoolNames(), "pools"), "there is no pool %q", name))
	}
}

// nearest is the fix for a name that the operator file does not have: the nearest that it has, and what else
// there is, as far as that is short.
func nearest(name string, known []string, key string) string {
	const most = 20
	switch {
	case len(known) == 0:
		return "leave it out: the operator file has no " + key
	case len(known) > most:
		return finding.DidYouMean(name, known, fmt.Sprintf("write one of the %d %s of the operator file", len(known), key))
	}
	return finding.DidYouMean(name, known, "write one of "+key+" of the operator file") + " (" + finding.Either(known) + ")"
}

func (a *admission) permits(step *Step) {
	request := NewRequest(step, a.run.Expansion.Environment, a.operator)
	for _, d := range request.Check(a.operator) {
		a.add(step.locate(d)...)
	}
}

// pod holds the final pod to the operator's limits and to the pod security standard.
func (a *admission) pod(step *Step) {
	pod, err := typed(step.Fragment)
	if err != nil {
		a.add(step.found(finding.Finding{Code: finding.PodMalformed, Severity: finding.Error, Fix: "correct what the message names",
			Message: "the step's pod is none to Kubernetes: " + err.Error()}, "", nil))
		return
	}
	c := composed{step, pod}
	a.add(c.malformed()...)
	a.add(c.limits(a.bounds)...)
	a.add(c.requests()...)
	a.add(c.secure(a.security)...)
}
