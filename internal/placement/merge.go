package placement

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// merger merges one layer after the other into a tree of nodes.
type merger struct {
	governs  Governs
	layer    Layer // that is being merged
	name     string
	number   int // of the layer, from 1
	findings []finding.Finding
}

// trail is the path to where the merger is, as a chain up to the root, which is nil. It becomes a
// Path only where a finding needs one.
type trail struct {
	up *trail
	Segment
}

func (t *trail) path() Path {
	if t == nil {
		return nil
	}
	return append(t.up.path(), t.Segment)
}

func (m *merger) found(code finding.Code, severity finding.Severity, at *trail, fix, format string, args ...any) {
	m.report(finding.Finding{Code: code, Severity: severity, Message: fmt.Sprintf(format, args...), Fix: fix}, at.path())
}

// report adds a finding about the layer that is being merged, at a path of it.
func (m *merger) report(f finding.Finding, at Path) {
	f.Path = at.String()
	if m.layer.Locate != nil {
		f.File, f.Line, f.Column = m.layer.Locate(at)
	}
	m.findings = append(m.findings, f)
}

// fault reports an error in the layer.
func (m *merger) fault(code finding.Code, at *trail, fix, format string, args ...any) {
	m.found(code, finding.Error, at, fix, "%s: %s", m.name, fmt.Sprintf(format, args...))
}

// value merges v, which is not nil, into the node.
func (m *merger) value(n *node, s *Schema, at *trail, v any) {
	switch v := v.(type) {
	case map[string]any:
		m.object(n, s, at, v)
	case []any:
		m.list(n, s, at, v)
	default:
		m.leaf(n, at, formScalar, RuleScalar, v)
	}
}

// leaf merges a value that replaces what is there.
func (m *merger) leaf(n *node, at *trail, f form, r Rule, v any) {
	if n.alive && n.form == f && equal(n.value, v) {
		n.setBy(m.name)
		return
	}
	if n.alive && n.form == f {
		m.conflict(n, at, v)
		n.lose()
	} else {
		m.mismatch(n, at, f, v)
	}
	n.revive(f, r)
	n.value = Clone(v)
	n.setBy(m.name)
}

// take prepares a node that holds several things for one more layer.
func (m *merger) take(n *node, at *trail, f form, r Rule, v any) {
	if !n.alive || n.form != f {
		m.mismatch(n, at, f, v)
		n.revive(f, r)
	}
	n.setBy(m.name)
}

// mismatch is an error if layers disagree about what the field is: they can't both be right, and
// the API server would only ever see the last.
func (m *merger) mismatch(n *node, at *trail, f form, v any) {
	if n.form == formNone || n.form == f {
		return
	}
	if !n.alive { // another life: only what it lost still counts
		for _, field := range n.fields {
			n.replaced = append(n.replaced, field.allReplaced()...)
		}
		for _, i := range n.items {
			n.replaced = append(n.replaced, i.content.allReplaced()...)
		}
		return
	}
	was := n.render()
	m.fault(finding.ShapeMismatch, at, "", "%s is %s here and %s in %s",
		at.path(), shape(v), shape(was), strings.Join(n.allLayers(), ", "))
	for _, layer := range n.allLayers() {
		n.replaced = append(n.replaced, Replaced{layer, was})
	}
}

// object merges key by key. The order of the keys makes no difference: fields are independent, and
// members of a one-of are removed before any is set.
func (m *merger) object(n *node, s *Schema, at *trail, v map[string]any) {
	m.take(n, at, formObject, RuleObject, v)
	m.directive(n, at, v)
	m.oneOf(n, s, at, v)
	for name, e := range v {
		switch {
		case strings.HasPrefix(name, "$"): // by directive
		case at != nil && at.Item && s.isKey(name): // by whoever found the item
		case e == nil:
			m.null(n.fields[name], &trail{at, Segment{Name: name}})
		default:
			field := n.fields[name]
			if field == nil {
				field = &node{}
				n.fields[name] = field
			}
			m.value(field, s.Field(name), &trail{at, Segment{Name: name}}, e)
		}
	}
}

// null removes what lower layers gave. n is nil if they gave nothing.
func (m *merger) null(n *node, at *trail) {
	switch {
	case !m.layer.mayRemove():
		m.fault(finding.DeletionForbidden, at, "give it a value, or leave the key out",
			"null would remove what lower layers gave, which only k8s_overlay may do")
	case n != nil:
		n.remove(m.name, RuleDelete)
	}
}

// oneOf removes the members of a one-of that the layer does not name, if it names any. Those that it
// names are merged as other fields are.
func (m *merger) oneOf(n *node, s *Schema, at *trail, v map[string]any) {
	if s == nil || !s.oneOf || !namesMember(s, v) {
		return
	}
	for name, field := range n.fields {
		if !field.alive || !s.isMember(name) || v[name] != nil {
			continue
		}
		m.memberConflict(field, at, name, v)
		field.remove(m.name, RuleOneOf)
	}
}

func namesMember(s *Schema, v map[string]any) bool {
	for name, e := range v {
		if e != nil && !strings.HasPrefix(name, "$") && s.isMember(name) {
			return true
		}
	}
	return false
}

// directive does what $patch says of an object that is no item of a list, and refuses the rest.
func (m *merger) directive(n *node, at *trail, v map[string]any) {
	for name, e := range v {
		if !strings.HasPrefix(name, "$") {
			continue
		}
		if name != "$patch" || e != "replace" && e != "delete" {
			m.fault(finding.DirectiveUnknown, at, "write null to remove a key, or $patch: delete or $patch: replace",
				"%s: %s is no directive that Berth has", name, shown(e))
			continue
		}
		switch {
		case !m.layer.mayRemove():
			m.forbidden(at, e)
		case e == "delete":
			m.fault(finding.DirectiveMisplaced, at, "write null as the field's value",
				"$patch: delete removes an item of a list that has keys, not a field")
		case at.Item:
			m.fault(finding.DirectiveMisplaced, at, "write - $patch: replace as an item of its own to replace the whole list, or null for single fields",
				"$patch: replace stands in an item that says more")
		default:
			for _, field := range n.fields {
				field.remove(m.name, RuleReplace)
			}
		}
	}
}

func (m *merger) forbidden(at *trail, directive any) {
	m.fault(finding.DeletionForbidden, at, "leave the directive out",
		"$patch: %s would remove what lower layers gave, which only k8s_overlay may do", directive)
}
