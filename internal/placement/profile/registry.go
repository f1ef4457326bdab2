package profile

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/placement"
)

// Empty is the operator file that nobody gave: no baseline, no profiles, no environments.
func Empty() *File {
	return &File{Conflicts: placement.Warn, PodSecurity: BaselineStandard,
		Kubernetes: Kubernetes{Keep: Keep{Failed: 10 * time.Minute}, NodeLostTimeout: 10 * time.Minute}}
}

// Profile gives the profile with the name, nil if there is none.
func (f *File) Profile(name string) *Profile {
	return pick(f.Profiles, func(p *Profile) bool { return p.Name == name })
}

// DefaultProfile gives the profile of a step that lists none, nil if there is none.
func (f *File) DefaultProfile() *Profile {
	return pick(f.Profiles, func(p *Profile) bool { return p.Default })
}

// Environment gives the environment with the name, nil if there is none.
func (f *File) Environment(name string) *Environment {
	return pick(f.Environments, func(e *Environment) bool { return e.Name == name })
}

// Pool gives the pool with the name, nil if there is none.
func (f *File) Pool(name string) *Pool {
	return pick(f.Pools, func(p *Pool) bool { return p.Name == name })
}

func pick[T any](all []T, is func(*T) bool) *T {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// ProfileNames gives the names of all profiles, sorted.
func (f *File) ProfileNames() []string {
	return sortedNames(f.Profiles, func(p Profile) string { return p.Name })
}

// EnvironmentNames gives the names of all environments, sorted.
func (f *File) EnvironmentNames() []string {
	return sortedNames(f.Environments, func(e Environment) string { return e.Name })
}

// PoolNames gives the names of all pools, sorted.
func (f *File) PoolNames() []string {
	return sortedNames(f.Pools, func(p Pool) string { return p.Name })
}

func sortedNames[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = name(e)
	}
	slices.Sort(names)
	return names
}

// Governs is what the operator says about composing, beside the layers.
func (f *File) Governs() placement.Governs {
	return placement.Governs{Conflicts: f.Conflicts, Locked: f.Baseline.Locked}
}

// ProfilesFor gives the profiles of a step that lists the names: in that order, each once, without those
// that the file does not have. A step that lists none has the default profile, if there is one; one that
// lists any replaces it.
func (f *File) ProfilesFor(listed []string) []*Profile {
	var profiles []*Profile
	if len(listed) == 0 {
		if p := f.DefaultProfile(); p != nil {
			profiles = append(profiles, p)
		}
		return profiles
	}
	for _, name := range listed {
		if p := f.Profile(name); p != nil && !slices.Contains(profiles, p) {
			profiles = append(profiles, p)
		}
	}
	return profiles
}
