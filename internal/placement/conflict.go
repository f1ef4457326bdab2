package placement

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// profilesOf gives those of the layers that are profiles, apart from the one that is being merged.
// It is nil if that one is none: an author's layer wins by design, and the operator's lock is what
// stands against it.
func (m *merger) profilesOf(layers []string) []string {
	if m.layer.Kind != Profile {
		return nil
	}
	prefix := Profile.String() + ":"
	return slices.DeleteFunc(slices.Clone(layers), func(l string) bool { return l == m.name || !strings.HasPrefix(l, prefix) })
}

// conflict reports that the layer overrides what another profile set.
func (m *merger) conflict(n *node, at *trail, v any) {
	if others := m.profilesOf(n.layers); len(others) > 0 {
		m.conflicting(at, others, shown(n.value), shown(v))
	}
}

// memberConflict reports that the layer names another member of a one-of than another profile did.
func (m *merger) memberConflict(n *node, at *trail, name string, v map[string]any) {
	if others := m.profilesOf(n.allLayers()); len(others) > 0 {
		m.conflicting(at, others, shown(map[string]any{name: n.render()}), shown(v))
	}
}

func (m *merger) conflicting(at *trail, others []string, theirs, ours string) {
	severity, outcome := finding.Warning, "the later one wins"
	if m.governs.Conflicts == Reject {
		severity, outcome = finding.Error, "the operator refuses profiles that disagree"
	}
	verb := " sets "
	if len(others) > 1 {
		verb = " set "
	}
	m.found(finding.ProfileConflict, severity, at, "name only one of the profiles",
		"%s%s%s to %s, and %s to %s: %s", strings.Join(others, " and "), verb, at.path(), theirs, m.name, ours, outcome)
}

// allLayers gives the layers that set what is in the node, in order of their first mention.
func (n *node) allLayers() []string {
	all := slices.Clone(n.layers)
	add := func(layers []string) {
		for _, l := range layers {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	for _, name := range sortedKeys(n.fields) {
		if field := n.fields[name]; field.alive {
			add(field.allLayers())
		}
	}
	for _, i := range n.items {
		if i.content.alive {
			add(i.content.allLayers())
		}
	}
	return all
}

// allReplaced gives all that was lost in the node and below it.
func (n *node) allReplaced() []Replaced {
	all := slices.Clone(n.replaced)
	for _, name := range sortedKeys(n.fields) {
		all = append(all, n.fields[name].allReplaced()...)
	}
	for _, i := range n.items {
		all = append(all, i.content.allReplaced()...)
	}
	return all
}
