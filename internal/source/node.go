package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/finding"
)

// Kind is what a node holds.
type Kind int

const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

var kindNames = [...]string{"null", "a boolean", "an integer", "a number", "a string", "a list", "a map"}

// String names the kind, with its article, as messages do.
func (k Kind) String() string { return kindNames[k] }

// Node is a value of a file, with its position. Nodes are not written to once they are read: what an
// alias stands for is the same node as what it is an alias of.
type Node struct {
	File         string
	Line, Column int // from 1; columns in characters. Where an alias stood, this is where its anchor stands
	Kind         Kind
	Value        any     // of a scalar: nil, bool, int64, float64 or string
	Text         string  // of a scalar as it was written, without quotes: 010
	Items        []*Node // of a list
	Fields       []Field // of a map, in their order, each name once
	Evaluated    bool    // it is what an expression yielded that stands there

	lines *lines         // of the file
	index map[string]int // of Fields by their names, if there are many
}

// many is from how many fields on it is worth an index.
const many = 16

// find gives the number of a field, -1 if there is none.
func (n *Node) find(name string) int {
	if n == nil {
		return -1
	}
	if n.index != nil {
		if i, ok := n.index[name]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(n.Fields, func(f Field) bool { return f.Name == name })
}

// indexed is called when all fields are there.
func (n *Node) indexed() {
	if len(n.Fields) < many {
		return
	}
	n.index = make(map[string]int, len(n.Fields))
	for i, f := range n.Fields {
		n.index[f.Name] = i
	}
}

// Field is a key of a map with its value.
type Field struct {
	Name  string
	Key   *Node
	Value *Node
}

// Field gives the value of a key, nil if there is none. n may be nil.
func (n *Node) Field(name string) *Node {
	if i := n.find(name); i >= 0 {
		return n.Fields[i].Value
	}
	return nil
}

// Key gives the node of a key, nil if there is none. n may be nil.
func (n *Node) Key(name string) *Node {
	if i := n.find(name); i >= 0 {
		return n.Fields[i].Key
	}
	return nil
}

// Item gives an item of a list, nil if there is none. n may be nil.
func (n *Node) Item(i int) *Node {
	if n == nil || i < 0 || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// Any gives the value all the way down: map[string]any, []any, and scalars as Value has them.
func (n *Node) Any() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = item.Any()
		}
		return list
	case Map:
		m := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			m[f.Name] = f.Value.Any()
		}
		return m
	default:
		return n.Value
	}
}

// Strings gives the tree again with other values where a string was, at the same positions. replace
// gets each node that is a string, and gives the value in its place: nil, bool, int64, float64, string, or
// lists ([]any) and maps (map[string]any) of these.
func (n *Node) Strings(replace func(*Node) any) *Node {
	if n == nil {
		return nil
	}
	c := *n
	switch n.Kind {
	case String:
		v := replace(n)
		if s, ok := v.(string); ok && s == n.Value {
			return n
		}
		return n.with(v)
	case List:
		c.Items = make([]*Node, len(n.Items))
		for i, item := range n.Items {
			c.Items[i] = item.Strings(replace)
		}
	case Map:
		c.Fields = slices.Clone(n.Fields)
		for i := range c.Fields {
			c.Fields[i].Value = c.Fields[i].Value.Strings(replace)
		}
	}
	return &c
}

// with is a node at the same position that holds v.
func (n *Node) with(v any) *Node {
	c := &Node{File: n.File, Line: n.Line, Column: n.Column, Evaluated: true, lines: n.lines}
	switch v := v.(type) {
	case nil:
		c.Text = "null"
	case bool:
		c.Kind, c.Value, c.Text = Bool, v, fmt.Sprint(v)
	case int64:
		c.Kind, c.Value, c.Text = Int, v, fmt.Sprint(v)
	case float64:
		c.Kind, c.Value, c.Text = Float, v, fmt.Sprint(v)
	case string:
		c.Kind, c.Value, c.Text = String, v, v
	case []any:
		c.Kind = List
		for _, e := range v {
			c.Items = append(c.Items, n.with(e))
		}
	case map[string]any:
		c.Kind = Map
		for name, e := range v {
			c.Fields = append(c.Fields, Field{name, n.with(name), n.with(e)})
		}
		slices.SortFunc(c.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	default:
		panic(fmt.Sprintf("source: no value of YAML: %T", v))
	}
	return c
}

// Describe names what the node holds, a scalar with its text.
func (n *Node) Describe() string {
	switch n.Kind {
	case Bool, Int, Float:
		return n.Kind.String() + " (" + n.Text + ")"
	default:
		return n.Kind.String()
	}
}

// Quote is the fix where a string is wanted and the node is none.
func (n *Node) Quote() string {
	if n.Evaluated {
		return "make the expression yield a string, with string(...) around it"
	}
	return "quote it: " + strconv.Quote(n.Text)
}

// Fault is an error at the node. n may be nil, for a place that is not known.
func (n *Node) Fault(code finding.Code, path, fix, format string, args ...any) finding.Finding {
	return n.Found(code, finding.Error, path, fix, format, args...)
}

// Found is a finding at the node. n may be nil, for a place that is not known.
func (n *Node) Found(code finding.Code, severity finding.Severity, path, fix, format string, args ...any) finding.Finding {
	f := finding.Finding{Code: code, Severity: severity, Path: path, Message: fmt.Sprintf(format, args...), Fix: fix}
	if n != nil {
		f.File, f.Line, f.Column = n.File, n.Line, n.Column
	}
	return f
}

// lines is a text by its lines.
type lines struct {
	all []string
}

// Occurrence gives where the i-th occurrence, from 0, of some text stands in the scalar, as it was
// written: escapes and folding move what is in a string. It is the scalar's own position if the text
// is not found there.
func (n *Node) Occurrence(text string, i int) (line, column int) {
	if n.lines == nil {
		return n.Line, n.Column
	}
	for l := n.Line; l <= len(n.lines.all); l++ {
		line := n.lines.all[l-1]
		at := 0
		if l == n.Line {
			at = offset(line, n.Column)
		}
		for {
			found := strings.Index(line[at:], text)
			if found < 0 {
				break
			}
			if i == 0 {
				return l, utf8.RuneCountInString(line[:at+found]) + 1
			}
			i--
			at += found + len(text)
		}
	}
	return n.Line, n.Column
}

// offset is where in a line a column begins, in bytes.
func offset(line string, column int) int {
	for i := range line {
		if column--; column <= 0 {
			return i
		}
	}
	return len(line)
}
