package profile

import (
	"slices"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

func (l *loader) baseline(section *baselineSection) {
	b := &l.file.Baseline
	b.K8s = l.fragment(section.K8s, placement.Baseline, "baseline.k8s")
	b.Resources = section.Resources
	l.literal(section.Resources, "baseline.resources")
	list := l.root.Field("baseline").Field("locked")
	if l.tooMany(list, "baseline.locked", len(section.Locked), MostLocks) {
		return
	}
	l.locks(l.readPaths(list, "baseline.locked", section.Locked))
}

// locks keeps the locks that are not below another one: that one holds all that they do. The lock on all
// tolerations does not: it lets others be added, which a lock on one of them may forbid.
func (l *loader) locks(written []writtenPath) {
	for i, w := range written {
		above := slices.IndexFunc(written, func(o writtenPath) bool {
			return o.Covers(w.Path) && len(o.Path) < len(w.Path) && o.Path.String() != "tolerations"
		})
		if above < 0 {
			above = slices.IndexFunc(written[:i], func(o writtenPath) bool { return slices.Equal(o.Path, w.Path) })
		}
		if above >= 0 {
			l.add(w.node.Found(finding.LockUnneeded, finding.Warning, w.at, "leave it out",
				"%s adds nothing: %s is locked in line %d", w, written[above], written[above].node.Line))
			continue
		}
		l.locked = append(l.locked, w)
		l.file.Baseline.Locked = append(l.file.Baseline.Locked, w.Path)
	}
}

// fragment reads a fragment of the operator's.
func (l *loader) fragment(n *source.Node, kind placement.Kind, path string) fragment.Fragment {
	if l.tooLarge(n, path) {
		l.unsound = l.unsound || kind == placement.Baseline
		return fragment.Fragment{}
	}
	f, findings := fragment.Read(n, fragment.Rules{Layer: kind, Path: path})
	l.unsound = l.unsound || kind == placement.Baseline && findings.HasErrors()
	l.add(findings.All()...)
	l.expressions(n, path)
	return f
}

// literal refuses expressions, which only a step's resources may have.
func (l *loader) literal(r *fragment.Resources, path string) {
	if r == nil {
		return
	}
	r.Node.Strings(func(n *source.Node) any {
		if expression.Has(n.Text) {
			l.add(n.Fault(finding.ExpressionMisplaced, path, "write the quantity itself",
				"an expression in %s: the operator's may stand in the values of labels and annotations only", path))
		}
		return n.Value
	})
}
