package profile

import (
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// probe reads a fragment that says something of the path alone, so that the Kubernetes types say what they
// have against it.
func probe(p placement.Path) []finding.Finding {
	n := &source.Node{Kind: source.Map}
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Item {
			n = &source.Node{Kind: source.List, Items: []*source.Node{identified(n, p[:i+1])}}
		} else {
			n = &source.Node{Kind: source.Map, Fields: []source.Field{{Name: p[i].Name, Key: textNode(p[i].Name), Value: n}}}
		}
	}
	_, findings := fragment.Read(n, fragment.Rules{Layer: placement.Baseline})
	return findings.All()
}

// identified is the item at the path, with the field that its key is, if that is a single one.
func identified(item *source.Node, p placement.Path) *source.Node {
	schema := listOf(p[:len(p)-1])
	if !schema.Keyed() || identityParts(schema) != 1 {
		return item
	}
	_, field := schema.Identity(map[string]any{})
	name := textNode(p[len(p)-1].Name)
	return &source.Node{Kind: source.Map, Fields: append([]source.Field{{Name: field, Key: textNode(field), Value: name}}, item.Fields...)}
}

func textNode(text string) *source.Node {
	return &source.Node{Kind: source.String, Value: text, Text: text}
}

// listOf is the schema of what is at a path.
func listOf(p placement.Path) *placement.Schema {
	schema := placement.PodSpec()
	for _, s := range p {
		if !s.Item {
			schema = schema.Field(s.Name)
		}
	}
	if len(p) > 0 && p[len(p)-1].Item {
		return nil // an item of a list is none
	}
	return schema
}

// identityParts counts the fields that the key of an item of a list is made of.
func identityParts(s *placement.Schema) int {
	item := map[string]any{}
	for {
		id, missing := s.Identity(item)
		if missing == "" {
			return 1 + colons(id)
		}
		item[missing] = "x"
	}
}

// colons counts those that separate the parts of a key: the others have a backslash before them.
func colons(id string) int {
	return strings.Count(strings.NewReplacer(`\\`, "", `\:`, "").Replace(id), ":")
}
