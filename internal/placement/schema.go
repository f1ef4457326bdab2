package placement

import (
	"slices"
	"strings"
)

// listRule says how a list merges.
type listRule int

const (
	replaced    listRule = iota // the later list stands
	keyed                       // items with the same key are merged
	union                       // as keyed, but an item that is there already is no mistake
	appended                    // items that are not there already are appended
	conjunction                 // node selector terms: each layer's demand holds
)

// schema is what a field of a pod spec has that is out of the ordinary, and what is below it. Where
// nothing is, the schema is nil, and all of its methods work on nil.
type schema struct {
	list    listRule
	keys    []key // of the list's items; nil if the field is no keyed list
	oneOf   bool
	members []string // of the one-of; nil: all fields but keys
	fields  map[string]*schema
}

// podSpec is the schema of a fragment, from the tables in keys.go. Nothing writes to it after this.
var podSpec = newSchema(lists, oneOfs)

func newSchema(lists []listRow, oneOfs []oneOfRow) *schema {
	root := &schema{}
	for _, row := range lists {
		s := root.make(row.path)
		s.list, s.keys = row.how, row.keys
	}
	for _, row := range oneOfs {
		s := root.make(row.path)
		s.oneOf, s.members = true, row.members
	}
	return root
}

func (s *schema) make(path string) *schema {
	for name := range strings.SplitSeq(path, ".") {
		if s.fields == nil {
			s.fields = map[string]*schema{}
		}
		if s.fields[name] == nil {
			s.fields[name] = &schema{}
		}
		s = s.fields[name]
	}
	return s
}

// field is the schema of a field of an object, or of a field of the list's items.
func (s *schema) field(name string) *schema {
	if s == nil {
		return nil
	}
	return s.fields[name]
}

func (s *schema) rule() listRule {
	if s == nil {
		return replaced
	}
	return s.list
}

// isKey says whether the field identifies the item that it is in.
func (s *schema) isKey(field string) bool {
	return s != nil && slices.ContainsFunc(s.keys, func(k key) bool { return k.field == field })
}

// isMember says whether the field is one of the one-of that the object is.
func (s *schema) isMember(field string) bool {
	switch {
	case s == nil || !s.oneOf:
		return false
	case s.members == nil:
		return !s.isKey(field)
	default:
		return slices.Contains(s.members, field)
	}
}

// identity is the key of an item, as paths show it. If the item lacks a field of it, missing says
// which.
func (s *schema) identity(item map[string]any) (id, missing string) {
	parts := make([]string, 0, 4)
	for _, k := range s.keys {
		text, ok := keyText(item[k.field])
		if !ok || text == "" {
			text = k.absent
			if !k.optional {
				return "", k.field
			}
		}
		parts = append(parts, text)
	}
	if len(parts) == 1 {
		return parts[0], ""
	}
	for i, part := range parts {
		if strings.ContainsAny(part, `:\`) { // else two identities could look the same
			parts[i] = strings.NewReplacer(`\`, `\\`, `:`, `\:`).Replace(part)
		}
	}
	return strings.Join(parts, ":"), ""
}

// keyFields is the part of an item that identifies it, as it was written.
func (s *schema) keyFields(item map[string]any) map[string]any {
	fields := make(map[string]any, len(s.keys))
	for _, k := range s.keys {
		if v, ok := item[k.field]; ok && v != nil {
			fields[k.field] = clone(v)
		}
	}
	return fields
}

// sameBesideKeys says whether two items with the same identity say the same.
func (s *schema) sameBesideKeys(a, b map[string]any) bool {
	for _, pair := range [][2]map[string]any{{a, b}, {b, a}} {
		for name, v := range pair[0] {
			if !s.isKey(name) && !equal(v, pair[1][name]) {
				return false
			}
		}
	}
	return true
}
