package profile

import (
	"fmt"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// writtenPath is a path of a lock or a permit, with where it was written.
type writtenPath struct {
	placement.Path
	node *source.Node
	at   string
}

// readPaths reads a list of paths; at is where the list is. What is no path, or one that no field can ever
// have, is not among them: it would be accepted and do nothing.
func (l *loader) readPaths(list *source.Node, at string, texts []string) []writtenPath {
	var written []writtenPath
	if l.paths += len(texts); len(texts) > 0 && l.paths > MostPaths {
		l.add(list.Fault(finding.TooLarge, at, "permit what they are in", "the file has more than %d paths", MostPaths))
		return nil
	}
	for i, text := range texts {
		n, here := list.Item(i), fmt.Sprintf("%s[%d]", at, i)
		if n == nil || n.Kind != source.String {
			continue
		}
		path, err := placement.ParsePath(text)
		if err != nil {
			l.add(n.Fault(finding.PathInvalid, here, `write keys joined by dots, one with a dot in double quotes: nodeSelector."kubernetes.io/os"`, "%v", err))
			continue
		}
		if len(path) > MostSegments {
			l.add(n.Fault(finding.TooLarge, here, "write what it is in", "the path has %d parts, and %d are the most", len(path), MostSegments))
			continue
		}
		found, usable := judge(path, n, here)
		l.add(found...)
		if usable {
			written = append(written, writtenPath{path, n, here})
		}
	}
	return written
}

// judge says what is wrong with a path, and whether it can be used.
func judge(p placement.Path, n *source.Node, at string) (found []finding.Finding, usable bool) {
	if reason, fix := matchesNothing(p); reason != "" {
		return []finding.Finding{n.Fault(finding.PathMatchesNothing, at, fix, "%s matches nothing: %s", p, reason)}, false
	}
	for _, f := range probe(p) {
		switch f.Code {
		case finding.UnknownField, finding.ReservedField:
			found = append(found, n.Found(f.Code, finding.Warning, at, f.Fix, "%s: %s", p, f.Message))
		}
	}
	return found, true
}

// matchesNothing says why no field of a fragment can have the path; empty if one can.
func matchesNothing(p placement.Path) (reason, fix string) {
	schema := placement.PodSpec()
	for i, s := range p {
		if !s.Item {
			schema = schema.Field(s.Name)
			continue
		}
		if !schema.Keyed() {
			return fmt.Sprintf("%s is no list whose items have keys, and is merged as a whole", p[:i]), "write " + p[:i].String()
		}
		if want, have := identityParts(schema), 1+colons(s.Name); want > 1 && want != have {
			return fmt.Sprintf("an item of %s has a key of %d parts, joined by colons, and %q has %d", p[:i], want, s.Name, have),
				"write all of them, as in " + exampleOf(p[:i])
		}
	}
	for _, f := range probe(p) {
		at, err := placement.ParsePath(f.Path)
		if f.Code == finding.FragmentRoot {
			return f.Message, "begin with " + withoutRoot(p)
		}
		if f.Code != finding.WrongType || err != nil || len(at) >= len(p) {
			continue
		}
		prefix := p[:len(at)]
		if listOf(prefix).Keyed() {
			return fmt.Sprintf("%s is a list, whose items are named in brackets", prefix), "write " + insertItem(p, len(at))
		}
		return fmt.Sprintf("nothing stands below %s", prefix), quoted(p, len(at))
	}
	return "", ""
}
