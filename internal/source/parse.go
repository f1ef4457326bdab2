package source

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/berthdev/berth/internal/finding"
)

// Bounds of a file. Beyond each of them is an error that names it.
const (
	MostBytes  = 1 << 20 // of the text
	MostDepth  = 64      // of maps and lists in each other
	MostValues = 100_000 // maps, lists, scalars and keys, with aliases written out
)

// Parse reads the text of a file. The node is nil if there is none that could be looked at further;
// the findings then say why.
func Parse(file string, text []byte) (*Node, finding.List) {
	p := parser{file: file}
	if bad, ok := p.unreadable(text); ok {
		return nil, finding.Of(bad)
	}
	content := strings.TrimPrefix(string(text), "\uFEFF")
	p.lines = &lines{strings.Split(content, "\n")}
	root := p.load(content)
	if root == nil {
		return nil, finding.Of(p.findings...)
	}
	return root, finding.Of(p.findings...)
}

type parser struct {
	file     string
	lines    *lines
	findings []finding.Finding
	values   int
	tooMany  bool
	open     map[*yaml.Node]bool // the anchors that are being read
	depth    int
}

func (p *parser) fault(line, column int, code finding.Code, fix, format string, args ...any) {
	p.findings = append(p.findings, finding.Finding{Code: code, Severity: finding.Error, File: p.file,
		Line: line, Column: column, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// load parses the text as a single document.
func (p *parser) load(text string) *Node {
	limits := loaderlimits.New(loaderlimits.DepthValue(MostDepth))
	loader, err := yaml.NewLoader(strings.NewReader(text), yaml.WithPlugin(limits), yaml.WithAllDocuments())
	if err != nil {
		panic(err) // the options are constant
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		p.fault(1, 1, finding.YAMLInvalid, "", "the file is empty")
		return nil
	} else if err != nil {
		p.broken(err)
		return nil
	}
	if err := loader.Load(&second); err == nil {
		p.fault(second.Line, 1, finding.YAMLInvalid, "keep one document in each file", "a second document begins here")
		return nil
	} else if !errors.Is(err, io.EOF) {
		p.broken(err)
		return nil
	}
	if len(first.Content) != 1 {
		p.fault(1, 1, finding.YAMLInvalid, "", "the file is empty")
		return nil
	}
	p.open = map[*yaml.Node]bool{}
	root := p.node(first.Content[0])
	if p.tooMany {
		p.findings = append(p.findings, tooManyValues(p.file))
		return nil
	}
	return root
}

// broken reports what the YAML library says.
func (p *parser) broken(err error) {
	line, column, message := 0, 0, err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		line, column, message = load.Mark.Line, load.Mark.Column, load.Message
		if load.ContextMsg != "" {
			message += " (" + load.ContextMsg + ")"
		}
	}
	fix := ""
	switch {
	case strings.Contains(message, "max depth"):
		p.fault(line, column, finding.TooLarge, "nest less deep", "maps and lists nest deeper than %d", MostDepth)
		return
	case p.tabAt(line, column):
		message, fix = "a tab where YAML wants spaces", "indent with spaces"
	}
	p.fault(line, column, finding.YAMLInvalid, fix, "not YAML: %s", message)
}

func (p *parser) tabAt(line, column int) bool {
	if line < 1 || line > len(p.lines.all) {
		return false
	}
	text := []rune(p.lines.all[line-1])
	return column >= 1 && column <= len(text) && text[column-1] == '\t'
}

// node converts what the library read. It is nil if there were too many values.
func (p *parser) node(y *yaml.Node) *Node {
	if p.values++; p.values > MostValues {
		p.tooMany = true
		return nil
	}
	n := &Node{File: p.file, Line: y.Line, Column: y.Column, lines: p.lines}
	p.depth++
	defer func() { p.depth-- }()
	switch y.Kind {
	case yaml.AliasNode:
		return p.alias(y)
	case yaml.SequenceNode:
		n.Kind = List
		p.tag(y, "!!seq")
		p.open[y] = true
		for _, c := range y.Content {
			n.Items = append(n.Items, p.node(c))
			if p.tooMany {
				return nil
			}
		}
		delete(p.open, y)
	case yaml.MappingNode:
		n.Kind = Map
		p.tag(y, "!!map")
		p.open[y] = true
		p.fields(n, y)
		n.indexed()
		delete(p.open, y)
	default:
		p.scalar(n, y)
	}
	if p.tooMany {
		return nil
	}
	return n
}

func (p *parser) alias(y *yaml.Node) *Node {
	if p.open[y.Alias] {
		p.fault(y.Line, y.Column, finding.YAMLInvalid, "write out what is meant", "alias *%s stands inside of what it is an alias of", y.Value)
		return &Node{File: p.file, Line: y.Line, Column: y.Column, lines: p.lines}
	}
	if p.depth > MostDepth {
		p.fault(y.Line, y.Column, finding.TooLarge, "nest less deep", "maps and lists nest deeper than %d, once aliases are written out", MostDepth)
		return &Node{File: p.file, Line: y.Line, Column: y.Column, lines: p.lines}
	}
	return p.node(y.Alias)
}

func (p *parser) fields(n *Node, y *yaml.Node) {
	seen := make(map[string]*Node, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := p.node(y.Content[i])
		if key == nil {
			return
		}
		value := p.node(y.Content[i+1])
		if value == nil {
			return
		}
		first := seen[key.Text]
		switch {
		case y.Content[i].Tag == "!!merge":
			p.fault(key.Line, key.Column, finding.YAMLInvalid, "write out what is meant; a pipeline's `defaults` hold for every step",
				"YAML 1.2 has no merge keys")
		case key.Kind == List || key.Kind == Map:
			p.fault(key.Line, key.Column, finding.YAMLInvalid, "", "a key is %s", key.Kind)
		case key.Kind != String:
			p.fault(key.Line, key.Column, finding.NotAString, fmt.Sprintf("quote it: %q", key.Text),
				"the key %s is %s, and keys are strings", key.Text, key.Kind)
		case first != nil:
			p.fault(key.Line, key.Column, finding.KeyTwice, "keep one of the two", "the key %q occurs twice, first in line %d", key.Text, first.Line)
		default:
			seen[key.Text] = key
			n.Fields = append(n.Fields, Field{key.Text, key, value})
		}
	}
}

func (p *parser) scalar(n *Node, y *yaml.Node) {
	n.Kind, n.Value, n.Text = String, y.Value, y.Value
	if strings.ContainsRune(y.Value, 0) {
		p.fault(n.Line, n.Column, finding.YAMLInvalid, "leave it out", "a text with a NUL character in it, which no environment variable or argument can have")
	}
	if y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		p.tag(y, "!!str")
		return
	}
	if y.Style&yaml.TaggedStyle != 0 && (y.Tag == "!!str" || y.Tag == "!") {
		return
	}
	var trouble string
	if n.Kind, n.Value, trouble = resolve(y.Value); trouble != "" {
		p.fault(n.Line, n.Column, finding.NumberOutOfRange, "write a smaller number, or quote it if it is a text", "%s %s", y.Value, trouble)
	}
	p.tag(y, [...]string{Null: "!!null", Bool: "!!bool", Int: "!!int", Float: "!!float", String: "!!str"}[n.Kind])
}

// tag refuses a tag that was written and is not that of what was written.
func (p *parser) tag(y *yaml.Node, want string) {
	if y.Style&yaml.TaggedStyle != 0 && y.Tag != want && y.Tag != "!" {
		p.fault(y.Line, y.Column, finding.YAMLInvalid, "leave the tag out", "the tag %s does not fit what it stands before", y.Tag)
	}
}
