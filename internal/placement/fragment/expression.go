package fragment

import (
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// opening is what every expression begins with.
const opening = "${{"

func isExpression(n *source.Node) bool {
	return n.Kind == source.String && strings.Contains(n.Text, opening)
}

// pending says whether the value is not known yet, or refused for not being known.
func (r *reader) pending(n *source.Node) bool {
	return isExpression(n) && (r.rules.operators() || r.rules.Expressions)
}

// expression reads a string with an expression in it. It is done if nothing more can be said of the
// string; else it is a string like others.
func (r *reader) expression(n *source.Node, at *trail) (v any, keep, done bool) {
	switch {
	case r.rules.operators() && !evaluated(at):
		r.fault(n, finding.ExpressionMisplaced, at, "write the value itself",
			"an expression in %s: the operator's may stand in the values of labels and annotations only", r.shown(at))
		v, keep = r.drop()
		return v, keep, true
	case r.rules.operators() || r.rules.Expressions:
		return n.Value, true, true
	default:
		return nil, false, false
	}
}

// evaluated says whether expressions of the operator are evaluated there.
func evaluated(at *trail) bool {
	return at.up != nil && (at.up.is("labels") || at.up.is("annotations"))
}

// misplacedKey refuses an expression in a key: what a file says something of is known when it is read.
func (r *reader) misplacedKey(f source.Field, at *trail) bool {
	if !strings.Contains(f.Name, opening) || !r.rules.operators() && !r.rules.Expressions {
		return false
	}
	r.fault(f.Key, finding.ExpressionMisplaced, at, "write the key itself", "an expression in a key is never evaluated")
	return true
}
