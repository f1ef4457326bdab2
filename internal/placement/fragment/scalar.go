package fragment

import (
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// wanted is how messages name a kind.
var wanted = [...]string{
	text: "a string", boolean: "true or false", integer: "an integer", quantity: "a quantity in quotes",
	intOrString: "an integer or a string", timestamp: "a string", list: "a list", dict: "a map", object: "a map",
}

// scalar reads a single value. One that is a single value of another kind is passed on all the same, a
// text as if it had been quoted.
func (r *reader) scalar(n *source.Node, at *trail, s *shape) (any, bool) {
	if n.Kind == source.List || n.Kind == source.Map {
		return r.wrong(n, at, s)
	}
	switch s.kind {
	case text:
		return r.text(n, at)
	case timestamp:
		if _, err := time.Parse(time.RFC3339, n.Text); n.Kind == source.String && err != nil {
			r.fault(n, finding.ValueInvalid, at, "write it as 2006-01-02T15:04:05Z", "%s is no time: %q", r.shown(at), n.Text)
		}
		return r.text(n, at)
	case quantity:
		_, findings := readQuantity(n, at.name, r.path(at), r.shown(at))
		r.findings = append(r.findings, findings...)
		return n.Text, true
	case boolean:
		if n.Kind != source.Bool {
			r.mismatch(n, at, s)
		}
	case intOrString:
		if n.Kind == source.String {
			break
		}
		r.integer(n, at, s, 32)
	default:
		r.integer(n, at, s, s.typ.Bits())
	}
	return number(n), true
}

func (r *reader) text(n *source.Node, at *trail) (any, bool) {
	if n.Kind != source.String {
		r.fault(n, finding.NotAString, at, n.Quote(), "%s is %s, and must be a string", r.shown(at), n.Describe())
	}
	return n.Text, true
}

func (r *reader) integer(n *source.Node, at *trail, s *shape, bits int) {
	switch {
	case n.Kind != source.Int:
		r.mismatch(n, at, s)
	case n.Ambiguous():
		r.findings = append(r.findings, n.AmbiguousFault(r.path(at)))
	case bits == 32 && (n.Value.(int64) > math.MaxInt32 || n.Value.(int64) < math.MinInt32):
		r.fault(n, finding.NumberOutOfRange, at, "", "%s is %s, and an integer of 32 bits ends at %d", r.shown(at), n.Text, math.MaxInt32)
	}
}

// number is the value of a scalar; a text for a number that JSON does not have.
func number(n *source.Node) any {
	if f, ok := n.Value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return n.Text
	}
	return n.Value
}

// mismatch says that the node is of another kind than the shape wants.
func (r *reader) mismatch(n *source.Node, at *trail, s *shape) {
	r.fault(n, finding.WrongType, at, remedy(n, s), "%s is %s, and must be %s", r.shown(at), n.Describe(), wanted[s.kind])
}

// wrong is mismatch where what was written can't stand for what is wanted.
func (r *reader) wrong(n *source.Node, at *trail, s *shape) (any, bool) {
	r.mismatch(n, at, s)
	return r.drop()
}

// remedy is the fix for a value of the wrong kind, where it is plain from the value.
func remedy(n *source.Node, s *shape) string {
	if n.Kind == source.String {
		_, notInt := strconv.ParseInt(n.Text, 10, 64)
		if s.kind == boolean && (n.Text == "true" || n.Text == "false") || s.kind == integer && notInt == nil {
			return "leave out the quotes: " + n.Text
		}
	}
	switch {
	case s.kind == boolean:
		return "write true or false"
	case s.kind == list && n.Kind == source.Map:
		return "write a list: each item begins with a dash"
	case s.kind == list && s.elem.typ.Kind() == reflect.String:
		return "write [" + strconv.Quote(n.Text) + "]"
	case s.kind == object && n.Kind == source.String && s.fields["name"] != nil:
		return "write {name: " + n.Text + "}"
	default:
		return ""
	}
}
