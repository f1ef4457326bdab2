package placement

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/finding"
)

// Result is what layers come to.
type Result struct {
	Fragment map[string]any // not to be used if Findings has errors
	Origins  []Origin       // of every leaf, sorted by path, a list's items in their order
	Findings finding.List   // with positions where a layer's Locate gives them
}

// Origin is where a leaf of the fragment came from. The key of an item of a keyed list is a leaf at
// the item's path: an object of the fields that the key is made of. An object or list that is empty
// is a leaf as well, and so is what was removed, with a nil value. One that is not empty, but took
// the place of something else, comes before what is in it, as if it were empty.
type Origin struct {
	Path     Path       `json:"path"`
	Layers   []string   `json:"layers"` // that set the value that stands, in order; or that removed it
	Value    any        `json:"value"`
	Rule     Rule       `json:"rule"`
	Replaced []Replaced `json:"replaced"` // in the order in which they were beaten
}

// Compose merges the layers in their order.
func Compose(layers []Layer, governs Governs) Result {
	m := merger{governs: governs}
	root := &node{}
	var locks []lock
	for i, layer := range layers {
		if layer.Kind > Baseline && locks == nil {
			locks = newLocks(root, governs.Locked)
		}
		m.layer, m.name, m.number = layer, layer.String(), i+1
		m.root(root, layer.Fragment)
		m.held(root, locks)
	}
	m.contradictions(root)
	result := Result{Fragment: map[string]any{}, Findings: finding.Of(m.findings...)}
	if root.alive {
		result.Fragment = root.render().(map[string]any)
		result.Origins = root.origins()
	}
	return result
}

func (m *merger) root(root *node, fragment map[string]any) {
	if _, ok := fragment["$patch"]; ok {
		m.fault(finding.DirectiveAtRoot, nil, "put it into the field that it is about", "$patch at the root of a fragment would act on the whole pod")
		fragment = maps.Clone(fragment)
		delete(fragment, "$patch")
	}
	m.object(root, podSpec, nil, fragment)
}

// origins gives the origins of all that is below the root. An empty root has none.
func (n *node) origins() []Origin {
	c := originCollector{path: make(Path, 0, 8), all: make([]Origin, 0, 64)} // of a usual pod
	c.fields(n)
	return c.all
}

// originCollector walks a tree in order of paths.
type originCollector struct {
	path Path // to where it is
	all  []Origin
}

func (c *originCollector) add(n *node, v any) {
	lost := n.replaced
	if lost == nil {
		lost = []Replaced{} // in JSON a list, not null
	}
	c.all = append(c.all, Origin{slices.Clone(c.path), n.layers, v, n.rule, lost})
}

func (c *originCollector) fields(n *node) {
	for _, name := range sortedKeys(n.fields) {
		c.path = append(c.path, Segment{Name: name})
		c.node(n.fields[name])
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *originCollector) node(n *node) {
	switch {
	case !n.alive && len(n.replaced) > 0:
		c.add(n, nil)
	case n.alive && n.form == formObject && (n.empty() || len(n.replaced) > 0):
		c.add(n, map[string]any{})
	case n.alive && n.form == formItems && (n.empty() || len(n.replaced) > 0):
		c.add(n, []any{})
	case n.alive && n.form != formObject && n.form != formItems:
		c.add(n, n.render())
	}
	c.fields(n)
	for _, i := range n.items {
		c.path = append(c.path, Segment{i.id, true})
		if i.content.alive {
			c.add(&i.content, i.key)
		} else if len(i.content.replaced) > 0 {
			c.add(&i.content, nil)
		}
		c.fields(&i.content)
		c.path = c.path[:len(c.path)-1]
	}
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
