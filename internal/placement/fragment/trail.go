package fragment

import (
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// trail is the path to where the reader is, as a chain up to the root, which has no name. It becomes
// a Path only where a finding needs one.
type trail struct {
	up     *trail
	name   string            // of a field
	item   *source.Node      // of a list, else nil
	index  int               // of the item
	called string            // the item's field name, if it is a string
	label  string            // of the item in paths, once it is known
	schema *placement.Schema // of the field, or of the list that the item is in
	opaque bool              // inside of a list that is not merged by key
}

func (t *trail) field(name string) *trail {
	return &trail{up: t, name: name, schema: t.schema.Field(name), opaque: t.opaque}
}

// in gives an item of the list that the trail leads to.
func (t *trail) in(item *source.Node, index int) *trail {
	here := &trail{up: t, item: item, index: index, schema: t.schema, opaque: t.opaque || !t.schema.Keyed()}
	if name := item.Field("name"); name != nil && name.Kind == source.String {
		here.called = name.Text
	}
	return here
}

func (t *trail) path() placement.Path {
	if t.up == nil {
		return nil
	}
	if t.item == nil {
		return append(t.up.path(), placement.Segment{Name: t.name})
	}
	if t.label == "" {
		t.label = itemName(t.item, t.index, t.schema)
	}
	return append(t.up.path(), placement.Segment{Name: t.label, Item: true})
}

// is says whether the trail leads along these names, from the root on. "*" stands for an item.
func (t *trail) is(names ...string) bool {
	for _, name := range slices.Backward(names) {
		if t.up == nil || (name == "*") != (t.item != nil) || name != "*" && name != t.name {
			return false
		}
		t = t.up
	}
	return t.up == nil
}

// container gives the name of the list of containers that the trail leads to an item of: containers
// or initContainers, "" if to something else.
func (t *trail) container() string {
	for _, name := range []string{"containers", "initContainers"} {
		if t.is(name, "*") {
			return name
		}
	}
	return ""
}

// explained is what kubectl explain calls the field.
func (t *trail) explained() string {
	names := []string{}
	for ; t.up != nil; t = t.up {
		if t.item == nil {
			names = append(names, t.name)
		}
	}
	slices.Reverse(names)
	return "pod.spec" + strings.Join(append([]string{""}, names...), ".")
}

// itemName is how paths call an item: by its key, or without one by its index.
func itemName(item *source.Node, index int, s *placement.Schema) string {
	if s.Keyed() && item.Kind == source.Map {
		if id, missing := s.Identity(scalars(item)); missing == "" {
			return id
		}
	}
	return strconv.Itoa(index)
}

// scalars gives the fields of a map that are scalars, as values.
func scalars(n *source.Node) map[string]any {
	m := make(map[string]any, len(n.Fields))
	for _, f := range n.Fields {
		if f.Value.Kind != source.Map && f.Value.Kind != source.List {
			m[f.Name] = f.Value.Value
		}
	}
	return m
}
