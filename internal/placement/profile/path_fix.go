package profile

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
)

// exampleOf is a path to an item of a list whose items have keys of several parts.
func exampleOf(list placement.Path) string {
	switch list[len(list)-1].Name {
	case "tolerations":
		return "tolerations[workload-type:Equal:batch:NoSchedule]"
	case "topologySpreadConstraints":
		return "topologySpreadConstraints[kubernetes.io/hostname:DoNotSchedule]"
	default:
		return list.String() + "[8080:TCP]"
	}
}

// insertItem is the path with an item's key after its first n segments.
func insertItem(p placement.Path, n int) string {
	name := "NAME"
	if p[0].Name == "containers" {
		name = "step"
	}
	list := p[:n:n]
	return append(append(list, placement.Segment{Name: name, Item: true}), p[n:]...).String()
}

// quoted is the fix for a path that goes on below a single value, its n first segments: a key with dots in
// it may have been written without quotes, as in nodeSelector.kubernetes.io/os.
func quoted(p placement.Path, n int) string {
	const otherwise = "end it there"
	var names []string
	for _, s := range p[n-1:] {
		if s.Item {
			return otherwise
		}
		names = append(names, s.Name)
	}
	path := append(p[:n-1:n-1], placement.Segment{Name: strings.Join(names, ".")})
	if slices.ContainsFunc(probe(path), func(f finding.Finding) bool { return f.Code == finding.UnknownField }) {
		return otherwise
	}
	return "quote the key: " + path.String()
}

// withoutRoot is what is to be written for a path that begins above a pod spec: spec.nodeSelector.
func withoutRoot(p placement.Path) string {
	for len(p) > 1 {
		if p = p[1:]; !slices.ContainsFunc(probe(p[:1]), func(f finding.Finding) bool { return f.Code == finding.FragmentRoot }) {
			return p.String()
		}
	}
	return "a key of a pod spec"
}
