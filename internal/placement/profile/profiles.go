package profile

import (
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

func (l *loader) profiles(entries []profileEntry) {
	const path = "placement_profiles"
	list := l.root.Field(path)
	if l.tooMany(list, path, len(entries), MostProfiles) {
		return
	}
	l.names(list, path)
	for i, e := range entries {
		at := source.At(path, i, list.Item(i))
		l.file.Profiles = append(l.file.Profiles, Profile{
			Name: e.Name, Description: e.Description, Default: e.Default, Restricted: e.Restricted, MayBeEmpty: e.MayBeEmpty,
			K8s: l.fragment(e.K8s, placement.Profile, at+".k8s"),
		})
	}
	l.defaults(list)
}

// defaults checks that there is one default profile at most, and that every step could have it.
func (l *loader) defaults(list *source.Node) {
	var first *Profile
	for i := range l.file.Profiles {
		p := &l.file.Profiles[i]
		if !p.Default {
			continue
		}
		n := list.Item(i).Field("default")
		at := source.At("placement_profiles", i, list.Item(i)) + ".default"
		if p.Restricted {
			l.add(n.Fault(finding.DefaultProfileUnfit, at, "drop default or restricted",
				"the default profile is restricted: a step that lists no profile would need a permit"))
		}
		if first != nil {
			l.add(n.Fault(finding.DefaultProfileUnfit, at, "drop default from one of the two", "%s is the default profile already", first.Name))
			continue
		}
		first = p
	}
}
