package reduce

import (
	"slices"
	"strings"
)

// Filter says which namespaces are looked at. Deny wins; without Allow all are allowed.
type Filter struct {
	Allow, Deny []string // names, in which * stands for any characters, none included
}

// Allows says whether a namespace may be named.
func (f Filter) Allows(namespace string) bool {
	matches := func(pattern string) bool { return glob(pattern, namespace) }
	return !slices.ContainsFunc(f.Deny, matches) && (len(f.Allow) == 0 || slices.ContainsFunc(f.Allow, matches))
}

func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(s, part)
		if !found {
			return false
		}
		s = after
	}
	return strings.HasSuffix(s, last)
}
