package fragment

import (
	"slices"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// Locate says where in its file the fragment says something of a path, or else of what the path is in:
// at a field's key, at an item. It is a placement.Locator.
func (f Fragment) Locate(path placement.Path) (file string, line, column int) {
	if f.Node == nil {
		return "", 0, 0
	}
	at, value, schema := f.Node, f.Node, placement.PodSpec()
	for _, s := range path {
		i := f.long.find(value, s, schema)
		if i < 0 {
			break
		}
		if s.Item {
			value = value.Items[i]
			at = value
		} else {
			at, value, schema = value.Fields[i].Key, value.Fields[i].Value, schema.Field(s.Name)
		}
	}
	return at.File, at.Line, at.Column
}

// index has the maps and lists that are too long to be searched for each finding about them: where
// in them is what a path calls so.
type index map[*source.Node]map[string]int

// short is how many fields or items are searched.
const short = 16

// add indexes a map or a list, if it or an item is long.
func (x index) add(n *source.Node, schema *placement.Schema) {
	long := func(n *source.Node) bool { return len(n.Fields) > short || len(n.Items) > short }
	if !long(n) && !slices.ContainsFunc(n.Items, long) {
		return
	}
	names := make(map[string]int, max(len(n.Fields), len(n.Items)))
	for i, f := range n.Fields {
		names[f.Name] = i
	}
	for i, item := range n.Items {
		name := itemName(item, i, schema)
		if _, twice := names[name]; !twice {
			names[name] = i
		}
	}
	x[n] = names
}

// find gives the index of a field or an item of the node, -1 if it has none that is called so.
func (x index) find(n *source.Node, s placement.Segment, schema *placement.Schema) int {
	if s.Item != (n.Kind == source.List) {
		return -1
	}
	if names, ok := x[n]; ok {
		if i, ok := names[s.Name]; ok {
			return i
		}
		return -1
	}
	for i, f := range n.Fields {
		if f.Name == s.Name {
			return i
		}
	}
	for i, item := range n.Items {
		if itemName(item, i, schema) == s.Name {
			return i
		}
	}
	return -1
}
