package placement

import (
	"fmt"
	"slices"

	"github.com/berthdev/berth/internal/finding"
)

// lock is a path that layers after the baseline may not change, with what is there. It holds values
// rather than writes: to say again what the baseline says changes nothing.
type lock struct {
	path  Path
	value any // nil: the baseline sets nothing there, and neither may others
}

func newLocks(root *node, paths []Path) []lock {
	locks := make([]lock, len(paths))
	for i, p := range paths {
		locks[i] = lock{p, root.at(p)}
	}
	return locks
}

// held reports the locks that the layer broke, each once: layers after it are held to what it left.
func (m *merger) held(root *node, locks []lock) {
	for i := range locks {
		l := &locks[i]
		now := root.at(l.path)
		if holds(l, now) {
			continue
		}
		if m.layer.Kind != Berth {
			m.report(finding.Finding{Code: finding.LockedField, Severity: finding.Error,
				Message: m.name + " " + change(l, now) + ", and the operator's baseline locks it",
				Fix:     "leave it as the baseline has it"}, l.path)
		}
		l.value = now
	}
}

// holds says whether what is at the lock now is as it was. Tolerations may be added: those that are
// locked still let the pod onto the same nodes.
func holds(l *lock, now any) bool {
	was, wasList := l.value.([]any)
	list, isList := now.([]any)
	if l.path.String() != "tolerations" || !wasList || !isList {
		return equal(l.value, now)
	}
	return !slices.ContainsFunc(was, func(t any) bool {
		return !slices.ContainsFunc(list, func(u any) bool { return equal(t, u) })
	})
}

func change(l *lock, now any) string {
	switch {
	case l.value == nil:
		return fmt.Sprintf("sets %s to %s", l.path, shown(now))
	case now == nil:
		return fmt.Sprintf("removes %s, which was %s", l.path, shown(l.value))
	default:
		return fmt.Sprintf("changes %s from %s to %s", l.path, shown(l.value), shown(now))
	}
}

// at gives the value at a path, nil if there is none.
func (n *node) at(p Path) any {
	if n == nil || !n.alive {
		return nil
	}
	if len(p) == 0 {
		return n.render()
	}
	if !p[0].Item {
		return n.fields[p[0].Name].at(p[1:])
	}
	i := n.item(p[0].Name)
	switch {
	case i == nil || !i.content.alive:
		return nil
	case len(p) == 1:
		return i.render()
	case i.key[p[1].Name] != nil && len(p) == 2:
		return i.key[p[1].Name]
	default:
		return i.content.at(p[1:])
	}
}
