package govern

import (
	"slices"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Request is what a step asks for that an environment has to permit: a plain value, good to be stored with
// the run and judged again when an attempt starts.
type Request struct {
	Environment    string           `json:"environment,omitempty"`     // that the run targets; empty if none
	Profiles       []string         `json:"profiles,omitempty"`        // those listed that were restricted when the run was admitted
	Secrets        []string         `json:"secrets,omitempty"`         // of the step's secrets, sorted, each once
	ServiceAccount string           `json:"service_account,omitempty"` // of the step; empty if it names none
	Overlay        bool             `json:"overlay,omitempty"`         // whether there is a k8s_overlay
	Touched        []placement.Path `json:"touched,omitempty"`         // all that it says something of
	References     []Reference      `json:"references,omitempty"`      // all that it refers to
}

// NewRequest gathers what a step asks for, of a run that targets the environment.
func NewRequest(step *Step, environment string, operator *profile.File) Request {
	i := step.Instance
	r := Request{Environment: environment, ServiceAccount: i.ServiceAccount}
	for _, name := range i.PlacementProfiles {
		if p := operator.Profile(name); p != nil && p.Restricted && !slices.Contains(r.Profiles, name) {
			r.Profiles = append(r.Profiles, name)
		}
	}
	for _, s := range i.Secrets { // in any order: they are sorted
		r.Secrets = append(r.Secrets, s.Secret)
	}
	slices.Sort(r.Secrets)
	r.Secrets = slices.Compact(r.Secrets)
	if i.Overlay.Node != nil {
		r.Overlay = true
		r.Touched = placement.Touched(i.Overlay.Value)
		r.References = references(i.Overlay.Value, step.Fragment, step.Origins)
	}
	return r
}

// Needs says whether there is anything to permit.
func (r Request) Needs() bool {
	return r.Overlay || r.ServiceAccount != "" || len(r.Profiles)+len(r.Secrets) > 0
}
