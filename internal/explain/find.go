package explain

import (
	"slices"
	"strings"
)

// Find completes a subject as far as the facts allow: the kind of a custom resource in its own spelling, and
// a namespace that was left open, if one alone has such a thing. several are those that have it, if more do.
func (c *Cluster) Find(subject Ref) (found Ref, several []string) {
	if subject.Kind == kindNode {
		return subject, nil
	}
	for _, w := range c.subjects() {
		if strings.EqualFold(w.Kind, subject.Kind) {
			subject.Kind = w.Kind
			break
		}
	}
	if subject.Namespace != "" {
		return subject, nil
	}
	for _, w := range c.subjects() {
		if w.Kind == subject.Kind && w.Name == subject.Name && !slices.Contains(several, w.Namespace) {
			several = append(several, w.Namespace)
		}
	}
	slices.Sort(several)
	if len(several) == 1 {
		subject.Namespace, several = several[0], nil
	}
	return subject, several
}

// subjects is everything that can be asked about, nodes apart.
func (c *Cluster) subjects() []Ref {
	all := c.Workloads()
	for ref := range c.owners {
		all = append(all, ref)
	}
	for _, p := range c.pods {
		all = append(all, Ref{kindPod, p.Namespace, p.Name})
	}
	slices.SortFunc(all, compareRefs)
	return slices.Compact(all)
}

// Known names what there is of the subject's kind, and where that is.
func (c *Cluster) Known(subject Ref) (names []string, where string) {
	if subject.Kind == kindNode {
		for _, n := range c.snapshot.Nodes() {
			names = append(names, n.Name)
		}
		return names, ""
	}
	for _, w := range c.subjects() {
		if w.Kind == subject.Kind && w.Namespace == subject.Namespace {
			names = append(names, w.Name)
		}
	}
	if subject.Namespace != "" {
		where = " in the namespace " + subject.Namespace
	}
	return names, where
}
