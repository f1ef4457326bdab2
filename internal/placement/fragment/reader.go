package fragment

import (
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// reader reads one fragment. Its methods give the value that is passed on, and whether one is.
type reader struct {
	rules    Rules
	findings []finding.Finding
	dropped  int // how many values were not passed on
	long     index
}

func (r *reader) found(n *source.Node, code finding.Code, severity finding.Severity, at *trail, fix, format string, args ...any) {
	r.findings = append(r.findings, n.Found(code, severity, r.path(at), fix, format, args...))
}

func (r *reader) fault(n *source.Node, code finding.Code, at *trail, fix, format string, args ...any) {
	r.found(n, code, finding.Error, at, fix, format, args...)
}

// path is the trail's path in the file.
func (r *reader) path(at *trail) string { return source.Join(r.rules.Path, at.path().String()) }

// shown is how a message names what the trail leads to: without the fragment's own path, since
// the position says where that is.
func (r *reader) shown(at *trail) string {
	if p := at.path().String(); p != "" {
		return p
	}
	return r.rules.Path
}

// drop is the result for what is not passed on.
func (r *reader) drop() (any, bool) {
	r.dropped++
	return nil, false
}

// value reads a value of the shape.
func (r *reader) value(n *source.Node, at *trail, s *shape) (any, bool) {
	switch {
	case isExpression(n):
		if v, keep, done := r.expression(n, at); done {
			return v, keep
		}
	case n.Kind == source.Null:
		return r.null(n, at, s)
	}
	switch s.kind {
	case object, dict:
		return r.object(n, at, s)
	case list:
		return r.list(n, at, s)
	case anything:
		return r.raw(n, at)
	default:
		return r.scalar(n, at, s)
	}
}

// null reads a null. Where composing would take it for a removal, allowed or not, it is passed on;
// elsewhere it is a value that was forgotten.
func (r *reader) null(n *source.Node, at *trail, s *shape) (any, bool) {
	fix := "give it a value, or leave it out"
	switch {
	case s.kind == text && (r.rules.operators() || at.opaque || at.item != nil):
		if n.Text != "" && n.Text != "~" {
			fix = n.Quote()
		}
		r.fault(n, finding.NotAString, at, fix, "%s has no value, and must be a string", r.shown(at))
	case at.opaque || at.item != nil:
		r.fault(n, finding.WrongType, at, fix, "%s has no value", r.shown(at))
	default:
		return nil, true
	}
	return r.drop()
}

// object reads an object, or a map with keys that are not known.
func (r *reader) object(n *source.Node, at *trail, s *shape) (any, bool) {
	if n.Kind != source.Map {
		return r.wrong(n, at, s)
	}
	r.long.add(n, nil)
	m := make(map[string]any, len(n.Fields))
	for _, f := range n.Fields {
		if v, keep := r.field(f, at.field(f.Name), s); keep {
			m[f.Name] = v
		}
	}
	return m, true
}

// field reads a field of an object of the shape.
func (r *reader) field(f source.Field, at *trail, s *shape) (any, bool) {
	field := s.fields[f.Name]
	if s.kind == dict {
		field = s.elem
	}
	switch {
	case r.misplacedKey(f, at):
		return r.drop()
	case strings.HasPrefix(f.Name, "$"):
		return r.raw(f.Value, at) // a directive: composing knows them
	case r.reserved(f, at):
		return r.drop()
	case field == nil:
		return r.unknown(f, at, s)
	default:
		return r.value(f.Value, at, field)
	}
}

// list reads a list. One that is not merged by key is a value as a whole: if an item is not passed on,
// it is not either, for what is left would mean something else.
func (r *reader) list(n *source.Node, at *trail, s *shape) (any, bool) {
	if n.Kind != source.List {
		return r.wrong(n, at, s)
	}
	r.long.add(n, at.schema)
	all := make([]any, 0, len(n.Items))
	before := r.dropped
	for i, item := range n.Items {
		here := at.in(item, i)
		if r.removesStep(item, here) {
			r.dropped++
			continue
		}
		r.toleratesEverything(item, here)
		dropped := r.dropped
		v, keep := r.value(item, here, s.elem)
		if keep && (r.dropped == dropped || hasKey(v, at.schema)) {
			all = append(all, v)
		}
	}
	if r.dropped > before && !at.schema.Keyed() {
		return nil, false
	}
	return all, true
}

// hasKey says whether an item still has what composing tells items apart by.
func hasKey(item any, s *placement.Schema) bool {
	o, ok := item.(map[string]any)
	if !ok || !s.Keyed() {
		return true
	}
	_, missing := s.Identity(o)
	return missing == ""
}
