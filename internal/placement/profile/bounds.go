package profile

import (
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// Bounds of a file, beside those of package source. They are far above what a file that people write needs,
// and keep any text from taking long: profiles are composed with the baseline, lists are compared.
const (
	MostProfiles     = 200
	MostEnvironments = 1000
	MostPools        = 1000
	MostLocks        = 200
	MostPaths        = 2000 // of locks and permits together
	MostSegments     = 32   // of a path: no field of a pod lies as deep
	MostValues       = 2000 // of a fragment: maps, lists and scalars
	MostItems        = 100  // objects in a list of a fragment
	mostName         = 63   // characters: a DNS label
	mostGuesses      = 200  // what was meant by unknown names
)

func (l *loader) tooMany(n *source.Node, path string, count, most int) bool {
	if count > most {
		l.add(n.Fault(finding.TooLarge, path, "", "%s has %d entries, and %d are the most", path, count, most))
	}
	return count > most
}

// tooLarge refuses a fragment beyond the bounds.
func (l *loader) tooLarge(n *source.Node, path string) bool {
	s := size{left: MostValues}
	s.take(n)
	switch {
	case s.left < 0:
		l.add(n.Fault(finding.TooLarge, path, "leave out what pods do not need", "%s has more than %d values", path, MostValues))
	case s.long != nil:
		l.add(s.long.Fault(finding.TooLarge, path, "leave out what pods do not need", "%s has a list of more than %d objects", path, MostItems))
	default:
		return false
	}
	return true
}

type size struct {
	left int          // values; negative if there are too many
	long *source.Node // a list with too many objects
}

func (s *size) take(n *source.Node) {
	if n == nil {
		return
	}
	s.left--
	if len(n.Items) > MostItems && n.Items[0].Kind == source.Map {
		s.long = n
	}
	for i := 0; i < len(n.Items) && s.left >= 0; i++ {
		s.take(n.Items[i])
	}
	for i := 0; i < len(n.Fields) && s.left >= 0; i++ {
		s.take(n.Fields[i].Value)
	}
}
