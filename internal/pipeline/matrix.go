package pipeline

import (
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/source"
)

// Matrix says for which combinations of values a step runs.
type Matrix struct {
	Axes    []Axis
	Include []Combination // adds keys to combinations, or combinations
	Exclude []Combination // removes combinations

	include, exclude []*source.Node
}

// Axis is a name with its values, in their order: strings, int64 or bool, no two the same.
type Axis struct {
	Name   string
	Values []any
}

// Combination is a value for each of some axes, in the order in which they were written.
type Combination []Setting

// Setting is the value of an axis.
type Setting struct {
	Axis  string
	Value any
}

// Get gives the value of an axis.
func (c Combination) Get(axis string) (any, bool) {
	for _, s := range c {
		if s.Axis == axis {
			return s.Value, true
		}
	}
	return nil, false
}

// Map is the combination by axis.
func (c Combination) Map() map[string]any {
	m := make(map[string]any, len(c))
	for _, s := range c {
		m[s.Axis] = s.Value
	}
	return m
}

// JSONSchema is how an editor checks it.
func (Matrix) JSONSchema() map[string]any {
	value := map[string]any{"type": []any{"string", "integer", "boolean"}}
	combination := map[string]any{"type": "array", "items": map[string]any{"type": "object", "additionalProperties": value}}
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"include": withDescription(combination, "adds keys to the combinations that it agrees with, or else is a combination of its own"),
			"exclude": withDescription(combination, "removes the combinations that agree with it"),
		},
		"additionalProperties": map[string]any{"type": "array", "items": value, "minItems": 1},
	}
}

func withDescription(schema map[string]any, text string) map[string]any {
	c := map[string]any{"description": text}
	for k, v := range schema {
		c[k] = v
	}
	return c
}

// FromNode reads the axes, and include and exclude beside them.
func (m *Matrix) FromNode(d *source.Decoding, n *source.Node, path string) {
	if n.Kind != source.Map {
		d.Add(n.Fault(finding.WrongType, path, "write axes with their values: {arch: [amd64, arm64]}", "%s is %s, and must be a map", path, n.Kind))
		return
	}
	for _, f := range n.Fields {
		at := source.Join(path, f.Name)
		switch f.Name {
		case "include":
			m.Include, m.include = combinations(d, f.Value, at)
		case "exclude":
			m.Exclude, m.exclude = combinations(d, f.Value, at)
		default:
			if !axisName(d, f, at) {
				continue
			}
			m.Axes = append(m.Axes, Axis{f.Name, axisValues(d, f.Value, at)})
		}
	}
	if len(m.Axes) == 0 && len(m.Include) == 0 {
		d.Add(n.Fault(finding.ValueInvalid, path, "add an axis, or leave matrix out", "%s has no axis", path))
	}
}

func axisName(d *source.Decoding, f source.Field, path string) bool {
	if err := ident.Variable(f.Name); err != nil {
		d.Add(f.Key.Fault(finding.NameInvalid, path, "", "the axis %q %v", f.Name, err))
		return false
	}
	return true
}

func axisValues(d *source.Decoding, n *source.Node, path string) []any {
	if n.Kind != source.List {
		d.Add(n.Fault(finding.WrongType, path, "write a list of values", "%s is %s, and must be a list", path, n.Kind))
		return nil
	}
	if len(n.Items) == 0 {
		d.Add(n.Fault(finding.ValueInvalid, path, "", "%s has no value, so that the step would never run", path))
	}
	var values []any
	for i, item := range n.Items {
		v, ok := matrixValue(d, item, source.At(path, i, item))
		if !ok {
			continue
		}
		if slices.Contains(values, v) {
			d.Add(item.Fault(finding.KeyTwice, path, "keep one of the two", "%s has the value %v twice", path, v))
			continue
		}
		values = append(values, v)
	}
	return values
}

// matrixValue takes what can be told apart however it is printed. A number with a point can't: 1.20 is
// 1.2 to a number, and a version to whoever wrote it.
func matrixValue(d *source.Decoding, n *source.Node, path string) (any, bool) {
	switch {
	case n.Kind == source.String || n.Kind == source.Bool:
		return n.Value, true
	case n.Kind == source.Int && n.Ambiguous():
		d.Add(n.AmbiguousFault(path))
	case n.Kind == source.Int:
		return n.Value, true
	case n.Kind == source.Float:
		d.Add(n.Fault(finding.NotAString, path, "quote it: \""+n.Text+"\"", "%s is a number with a point, which is not printed as it is written", n.Text))
	default:
		d.Add(n.Fault(finding.WrongType, path, "", "a value of a matrix is %s, and must be a string, an integer or a boolean", n.Kind))
	}
	return nil, false
}

func combinations(d *source.Decoding, n *source.Node, path string) ([]Combination, []*source.Node) {
	if n.Kind != source.List {
		d.Add(n.Fault(finding.WrongType, path, "write a list of maps: [{arch: amd64}]", "%s is %s, and must be a list", path, n.Kind))
		return nil, nil
	}
	var all []Combination
	var nodes []*source.Node
	for i, item := range n.Items {
		at := source.At(path, i, item)
		if item.Kind != source.Map || len(item.Fields) == 0 {
			d.Add(item.Fault(finding.WrongType, at, "write a map: {arch: amd64}", "%s is %s, and must be a map with a key at least", at, item.Kind))
			continue
		}
		var c Combination
		for _, f := range item.Fields {
			below := source.Join(at, f.Name)
			if !axisName(d, f, below) {
				continue
			}
			if v, ok := matrixValue(d, f.Value, below); ok {
				c = append(c, Setting{f.Name, v})
			}
		}
		all, nodes = append(all, c), append(nodes, item)
	}
	return all, nodes
}
