package placement

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// list merges by the rule that the schema has for the list.
func (m *merger) list(n *node, s *Schema, at *trail, list []any) {
	list, replace := m.replaceDirective(at, list)
	switch s.rule() {
	case keyed:
		m.items(n, s, at, RuleKeyed, list, replace)
	case union:
		m.items(n, s, at, RuleUnion, list, replace)
	case appended:
		m.append(n, at, list, replace)
	case conjunction:
		m.conjoin(n, at, list, replace)
	default:
		m.opaque(at, list)
		m.leaf(n, at, formList, RuleList, list)
	}
}

// replaceDirective takes the items out of the list that are nothing but $patch: replace.
func (m *merger) replaceDirective(at *trail, list []any) (rest []any, replace bool) {
	directive := func(e any) bool {
		o, ok := e.(map[string]any)
		return ok && len(o) == 1 && o["$patch"] == "replace"
	}
	if !slices.ContainsFunc(list, directive) {
		return list, false
	}
	if !m.layer.mayRemove() {
		m.forbidden(at, "replace")
	}
	return slices.DeleteFunc(slices.Clone(list), directive), m.layer.mayRemove()
}

// items merges a list whose items have keys.
func (m *merger) items(n *node, s *Schema, at *trail, r Rule, list []any, replace bool) {
	m.take(n, at, formItems, r, list)
	if replace {
		for _, i := range n.items {
			i.remove(m.name, RuleReplace)
		}
	}
	for _, e := range list {
		o, ok := e.(map[string]any)
		if !ok {
			m.fault(finding.ItemNotObject, at, "", "%s is no object, as the items of %s are", shown(e), at.path())
			continue
		}
		id, missing := s.Identity(o)
		if missing != "" {
			m.fault(finding.ItemWithoutKey, at, "add "+missing, "%s has no %s, by which items of %s are told apart",
				shown(o), missing, at.path())
			continue
		}
		m.item(n, s, &trail{at, Segment{id, true}}, r, o)
	}
}

func (m *merger) item(n *node, s *Schema, at *trail, r Rule, o map[string]any) {
	i := n.item(at.Name)
	if i == nil {
		i = &item{id: at.Name}
		n.addItem(i)
	}
	removes := o["$patch"] == "delete"
	switch again := i.seenBy == m.number; {
	case again && r == RuleUnion && s.sameBesideKeys(o, i.written):
		return
	case again:
		m.fault(finding.ItemTwice, at, "keep one of the two", "two items have the key %s", at.Name)
		return
	case removes && !m.layer.mayRemove():
		m.forbidden(at, "delete")
		return
	}
	i.seenBy, i.written = m.number, o
	if removes {
		i.remove(m.name, RuleDelete)
		return
	}
	if !i.content.alive {
		// A list that was replaced is in the order of the layer that replaced it.
		if n.items[len(n.items)-1] != i {
			n.items = append(slices.DeleteFunc(n.items, func(o *item) bool { return o == i }), i)
		}
		i.key = s.keyFields(o)
		i.content.revive(formObject, r)
	}
	m.object(&i.content, s, at, o)
}

// many is from how many items on it is worth an index.
const many = 16

// item finds an item by its key, alive or not.
func (n *node) item(id string) *item {
	if n.byID != nil {
		return n.byID[id]
	}
	for _, i := range n.items {
		if i.id == id {
			return i
		}
	}
	return nil
}

func (n *node) addItem(i *item) {
	n.items = append(n.items, i)
	switch {
	case n.byID != nil:
		n.byID[i.id] = i
	case len(n.items) == many:
		n.byID = make(map[string]*item, 2*many)
		for _, i := range n.items {
			n.byID[i.id] = i
		}
	}
}

// append merges a list of which every layer's items stay.
func (m *merger) append(n *node, at *trail, list []any, replace bool) {
	if replace {
		n.remove(m.name, RuleReplace)
	}
	m.opaque(at, list)
	m.take(n, at, formBag, RuleAppend, list)
	for _, e := range list {
		i := slices.IndexFunc(n.bag, func(b bagItem) bool { return equal(b.value, e) })
		switch {
		case i < 0:
			n.bag = append(n.bag, bagItem{Clone(e), []string{m.name}})
		case !slices.Contains(n.bag[i].layers, m.name):
			n.bag[i].layers = append(n.bag[i].layers, m.name)
		}
	}
}

// conjoin merges required node affinity.
func (m *merger) conjoin(n *node, at *trail, list []any, replace bool) {
	if replace {
		n.remove(m.name, RuleReplace)
	}
	m.opaque(at, list)
	terms, err := parseTerms(list, m.name)
	if err != nil {
		m.fault(finding.AffinityMalformed, at, "", "%v", err)
		return
	}
	m.take(n, at, formTerms, RuleConjunction, list)
	if !n.terms.add(part{m.name, Clone(list), terms}) {
		m.fault(finding.AffinityTooLarge, at, "say with fewer alternatives where the pod may run",
			"required node affinity of all layers together has more than %d terms", mostTerms)
	}
}

// opaque refuses what would mean something in a merge, in a list that is not merged any deeper.
func (m *merger) opaque(at *trail, v any) {
	switch v := v.(type) {
	case nil:
		m.fault(finding.DirectiveMisplaced, at, "leave it out", "a null inside a list that is not merged by key")
	case []any:
		for _, e := range v {
			m.opaque(at, e)
		}
	case map[string]any:
		for name, e := range v {
			if strings.HasPrefix(name, "$") {
				m.fault(finding.DirectiveMisplaced, at, "write out the whole list",
					"%s inside a list that is not merged by key", name)
				continue
			}
			m.opaque(at, e)
		}
	}
}
