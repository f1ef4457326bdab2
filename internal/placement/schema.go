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

// Schema is what a field of a pod spec has that is out of the ordinary, and what is below it. Where
// nothing is, the schema is nil, and all of its methods work on nil.
type Schema struct {
	list    listRule
	keys    []key // of the list's items; nil if the field is no keyed list
	oneOf   bool
	members []string // of the one-of; nil: all fields but keys
	fields  map[string]*Schema
}

// PodSpec gives the schema of a fragment.
func PodSpec() *Schema { return podSpec }

// podSpec is the schema of a fragment, from the tables in keys.go. Nothing writes to it after this.
var podSpec = newSchema(lists, oneOfs)

func newSchema(lists []listRow, oneOfs []oneOfRow) *Schema {
	root := &Schema{}
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

func (s *Schema) make(path string) *Schema {
	for name := range strings.SplitSeq(path, ".") {
		if s.fields == nil {
			s.fields = map[string]*Schema{}
		}
		if s.fields[name] == nil {
			s.fields[name] = &Schema{}
		}
		s = s.fields[name]
	}
	return s
}

// Field is the schema of a field of an object, or of a field of the list's items.
func (s *Schema) Field(name string) *Schema {
	if s == nil {
		return nil
	}
	return s.fields[name]
}

// Keyed says whether the field is a list whose items have keys.
func (s *Schema) Keyed() bool { return s != nil && s.keys != nil }

func (s *Schema) rule() listRule {
	if s == nil {
		return replaced
	}
	return s.list
}

// isKey says whether the field identifies the item that it is in.
func (s *Schema) isKey(field string) bool {
	return s != nil && slices.ContainsFunc(s.keys, func(k key) bool { return k.field == field })
}

// isMember says whether the field is one of the one-of that the object is.
func (s *Schema) isMember(field string) bool {
	switch {
	case s == nil || !s.oneOf:
		return false
	case s.members == nil:
		return !s.isKey(field)
	default:
		return slices.Contains(s.members, field)
	}
}

// Identity is the key of an item of a keyed list, as paths show it. If the item lacks a field of it, missing
// says which.
func (s *Schema) Identity(item map[string]any) (id, missing string) {
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
func (s *Schema) keyFields(item map[string]any) map[string]any {
	fields := make(map[string]any, len(s.keys))
	for _, k := range s.keys {
		if v, ok := item[k.field]; ok && v != nil {
			fields[k.field] = Clone(v)
		}
	}
	return fields
}

// sameBesideKeys says whether two items with the same identity say the same.
func (s *Schema) sameBesideKeys(a, b map[string]any) bool {
	for _, pair := range [][2]map[string]any{{a, b}, {b, a}} {
		for name, v := range pair[0] {
			if !s.isKey(name) && !equal(v, pair[1][name]) {
				return false
			}
		}
	}
	return true
}
