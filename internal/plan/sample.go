package plan

import (
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// samplePipeline has a step that says nothing but what every step has to say.
const samplePipeline = `version: 1
name: check
steps:
- name: sample
  image: busybox
  command: ["true"]
`

// Sample gives the smallest step that lists the profiles, with the pod that Make would give it: to see what
// the operator's layers come to. No profiles are the baseline alone, without the default profile. Names that
// the operator file does not have are left out.
//
// It is not admitted: nobody is asked whether a profile may be had. The findings are those of composing,
// and point into the operator file.
func Sample(operator *profile.File, profiles []string) (Step, finding.List) {
	if len(profiles) == 0 {
		operator = withoutDefault(operator)
	}
	file, findings := pipeline.Parse("", []byte(samplePipeline), pipeline.Options{})
	if file == nil {
		panic("plan: the sample is no pipeline: " + findings.Text(nil))
	}
	expansion, findings := file.Expand(pipeline.Input{})
	if findings.HasErrors() {
		panic("plan: the sample is no run: " + findings.Text(nil))
	}
	step := &expansion.Steps[0]
	step.PlacementProfiles = slices.Clone(profiles)
	m := maker{expansion: expansion, operator: operator}
	s, written, composed := m.step(m.run(), step)
	all := append(written, composed...)
	for i := range all {
		if all[i].File == "" {
			all[i].File, all[i].Line, all[i].Column = within(operator, profiles, all[i].Path)
		}
	}
	return s, finding.Of(all...)
}

// withoutDefault is the operator file as if it had no default profile.
func withoutDefault(operator *profile.File) *profile.File {
	c := *operator
	c.Profiles = slices.Clone(c.Profiles)
	for i := range c.Profiles {
		c.Profiles[i].Default = false
	}
	return &c
}

// within is where the last of the profiles, which wins, says something of the path, or else where it is.
func within(operator *profile.File, profiles []string, path string) (file string, line, column int) {
	of := operator.ProfilesFor(profiles)
	if len(of) == 0 {
		return operator.Name, 0, 0
	}
	at, err := placement.ParsePath(path)
	if err != nil {
		at = nil
	}
	return of[len(of)-1].K8s.Locate(at)
}
