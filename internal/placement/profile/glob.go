package profile

import "strings"

// Glob is an exact name, or a pattern in which * stands for any run of characters, an empty one too; nothing
// else in it is special. It is anchored at both ends: team-* does not match not-team-a.
type Glob string

// Match says whether the whole name matches.
func (g Glob) Match(name string) bool {
	parts := strings.Split(string(g), "*")
	if len(parts) == 1 {
		return name == string(g)
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	// The leftmost place for each part leaves the most to those after it.
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// trouble says what keeps the pattern from ever meaning something, in words that fit after it; empty if
// nothing does.
func (g Glob) trouble() string {
	switch {
	case g == "":
		return "is empty, and matches nothing"
	case strings.TrimSpace(string(g)) != string(g):
		return "begins or ends with a space, and no name does"
	case strings.ContainsFunc(string(g), func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "has a control character in it, and no name does"
	}
	return ""
}

// regular says whether the pattern looks like a regular expression, of which it would match the letters.
func (g Glob) regular() bool {
	s := string(g)
	return strings.HasPrefix(s, "^") || strings.HasSuffix(s, "$") || strings.Contains(s, ".*") || strings.Contains(s, ".+")
}
