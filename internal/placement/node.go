package placement

import "slices"

// form says what a node holds.
type form int

const (
	formNone   form = iota // never set
	formScalar             // value
	formList               // value: a list that is replaced whole
	formObject             // fields
	formItems              // items, each with its key
	formBag                // bag
	formTerms              // terms
)

// node is a field of the fragment that is being composed, with its origin. A node that was removed
// stays, not alive, and keeps what it lost; all below it is then not alive either.
type node struct {
	form     form
	alive    bool
	rule     Rule     // that made the value, or removed it
	layers   []string // that set the value; or the one that removed it. Each once, in order
	replaced []Replaced

	value  any
	fields map[string]*node
	items  []*item          // in the order in which they came to life
	byID   map[string]*item // of items, if there are many
	bag    []bagItem        // distinct
	terms  demand
}

// item is an item of a keyed list: its key, and a node of formObject without the key's fields.
type item struct {
	id      string
	key     map[string]any
	seenBy  int            // the number of the last layer that wrote it
	written map[string]any // by that layer; its own, only to be read
	content node
}

// bagItem is an item of a list that is appended to, with the layers that have it.
type bagItem struct {
	value  any
	layers []string
}

// Replaced is a layer that a later one beat, and the value that it had set.
type Replaced struct {
	Layer string `json:"layer"`
	Value any    `json:"value"`
}

// setBy adds a layer to those that set what is there.
func (n *node) setBy(layer string) {
	if len(n.layers) == 0 || n.layers[len(n.layers)-1] != layer {
		n.layers = append(n.layers, layer)
	}
}

// revive begins a new life with the form and the rule. What a former life lost stays.
func (n *node) revive(f form, r Rule) {
	if n.form != f {
		n.value, n.fields, n.items, n.byID, n.bag, n.terms = nil, nil, nil, nil, nil, demand{}
	}
	n.form, n.rule, n.alive, n.layers = f, r, true, nil
	if f == formObject && n.fields == nil {
		n.fields = map[string]*node{}
	}
}

// lose remembers the value that is there as beaten.
func (n *node) lose() {
	switch n.form {
	case formScalar, formList:
		for _, layer := range n.layers {
			n.replaced = append(n.replaced, Replaced{layer, n.value})
		}
	case formBag:
		for _, layer := range n.layers {
			n.replaced = append(n.replaced, Replaced{layer, n.bagOf(layer)})
		}
		n.bag = nil
	case formTerms:
		for _, p := range n.terms.parts {
			n.replaced = append(n.replaced, Replaced{p.layer, p.written})
		}
		n.terms = demand{}
	case formObject, formItems:
		if n.empty() {
			for _, layer := range n.layers {
				n.replaced = append(n.replaced, Replaced{layer, n.render()})
			}
		}
	}
}

// bagOf gives the items that the layer has.
func (n *node) bagOf(layer string) []any {
	var all []any
	for _, b := range n.bag {
		if slices.Contains(b.layers, layer) {
			all = append(all, b.value)
		}
	}
	return all
}

// remove takes the node and all below it out of the result.
func (n *node) remove(layer string, r Rule) {
	if !n.alive {
		return
	}
	n.lose()
	for _, field := range n.fields {
		field.remove(layer, r)
	}
	for _, i := range n.items {
		i.remove(layer, r)
	}
	n.alive, n.rule, n.layers = false, r, []string{layer}
}

// remove of an item loses its key as well, which is no field of its content.
func (i *item) remove(layer string, r Rule) {
	if !i.content.alive {
		return
	}
	for _, l := range i.content.layers {
		i.content.replaced = append(i.content.replaced, Replaced{l, i.key})
	}
	for _, field := range i.content.fields {
		field.remove(layer, r)
	}
	i.content.alive, i.content.rule, i.content.layers = false, r, []string{layer}
}

// empty says whether an object or a keyed list has nothing alive in it.
func (n *node) empty() bool {
	for _, field := range n.fields {
		if field.alive {
			return false
		}
	}
	return !slices.ContainsFunc(n.items, func(i *item) bool { return i.content.alive })
}

// render gives the value that is there. It shares nothing with the node that is written to later.
func (n *node) render() any {
	switch n.form {
	case formObject:
		m := make(map[string]any, len(n.fields))
		for name, field := range n.fields {
			if field.alive {
				m[name] = field.render()
			}
		}
		return m
	case formItems:
		list := make([]any, 0, len(n.items))
		for _, i := range n.items {
			if i.content.alive {
				list = append(list, i.render())
			}
		}
		return list
	case formBag:
		list := make([]any, len(n.bag))
		for i, b := range n.bag {
			list[i] = Clone(b.value)
		}
		return list
	case formTerms:
		return n.terms.render()
	default:
		return Clone(n.value)
	}
}

func (i *item) render() map[string]any {
	m := make(map[string]any, len(i.key)+len(i.content.fields))
	for name, field := range i.content.fields {
		if field.alive {
			m[name] = field.render()
		}
	}
	for name, v := range i.key {
		m[name] = v
	}
	return m
}
