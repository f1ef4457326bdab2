package source

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// Decode writes what the node says into target, a pointer, and gives all that is wrong with it. What
// could be read is written, the rest left alone.
//
// A struct takes a map. Each of its fields has a tag `yaml:"KEY"`, or `yaml:"KEY,required"`; keys that
// no field has are errors. A string takes strings only, an int and a bool likewise; Text any scalar.
// A *Node takes whatever there is. A type that implements FromNode reads itself, and one with Values
// takes only these.
func Decode(n *Node, target any) finding.List {
	d := &Decoding{}
	d.Value(n, "", reflect.ValueOf(target).Elem())
	return finding.Of(d.findings...)
}

// FromNode is a type that reads itself. path is where the node is, for findings.
type FromNode interface {
	FromNode(d *Decoding, n *Node, path string)
}

// Enumerated is a type of strings of which only some are meant.
type Enumerated interface {
	Values() []string
}

// Hinted is a struct that knows keys which people will type and which it doesn't have, with what to
// write instead.
type Hinted interface {
	Hints() map[string]string
}

// Text is a scalar as it was written in the source: 010 stays 010.
type Text string

// Decoding is a decode under way.
type Decoding struct {
	findings []finding.Finding
}

// Add adds findings.
func (d *Decoding) Add(findings ...finding.Finding) { d.findings = append(d.findings, findings...) }

// Join is the path of a key below a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// At is the path of an item of a list: by its name, if it has one.
func At(path string, i int, item *Node) string {
	if name := item.Field("name"); name != nil && name.Kind == String && name.Text != "" {
		return path + "[" + name.Text + "]"
	}
	return path + "[" + strconv.Itoa(i) + "]"
}

// Value decodes the node into v.
func (d *Decoding) Value(n *Node, path string, v reflect.Value) {
	if custom, ok := v.Addr().Interface().(FromNode); ok {
		custom.FromNode(d, n, path)
		return
	}
	if _, ok := v.Interface().(*Node); ok {
		v.Set(reflect.ValueOf(n))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.Kind == Null {
			d.wrong(n, path, "", "nothing")
			return
		}
		fresh := reflect.New(v.Type().Elem())
		d.Value(n, path, fresh.Elem())
		v.Set(fresh)
	case reflect.Struct:
		d.object(n, path, v)
	case reflect.Map:
		d.mapping(n, path, v)
	case reflect.Slice:
		d.list(n, path, v)
	case reflect.String:
		d.text(n, path, v)
	case reflect.Int, reflect.Int64:
		d.integer(n, path, v)
	case reflect.Bool:
		if n.Kind != Bool {
			d.wrong(n, path, "true or false", "a boolean")
			return
		}
		v.SetBool(n.Value.(bool))
	default:
		panic(fmt.Sprintf("source: no way to decode %s", v.Type()))
	}
}

// wrong says that the node is of another kind than what is wanted.
func (d *Decoding) wrong(n *Node, path, example, wanted string) {
	fix := ""
	if example != "" {
		fix = "write " + example
	}
	if n.Kind == Null {
		d.Add(n.Fault(finding.WrongType, path, "give it a value, or leave the key out", "%s has no value", quotedPath(path)))
		return
	}
	d.Add(n.Fault(finding.WrongType, path, fix, "%s is %s, and must be %s", quotedPath(path), n.Describe(), wanted))
}

func quotedPath(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

func (d *Decoding) text(n *Node, path string, v reflect.Value) {
	_, asWritten := v.Interface().(Text)
	switch {
	case asWritten && (n.Kind == List || n.Kind == Map || n.Kind == Null):
		d.wrong(n, path, "", "a string, a number or a boolean")
		return
	case asWritten:
		v.SetString(n.Text)
		return
	case n.Kind == Bool || n.Kind == Int || n.Kind == Float:
		d.Add(n.Fault(finding.NotAString, path, n.Quote(), "%s is %s, and must be a string", quotedPath(path), n.Describe()))
		return
	case n.Kind != String:
		d.wrong(n, path, "", "a string")
		return
	}
	if e, ok := v.Interface().(Enumerated); ok && !slices.Contains(e.Values(), n.Text) {
		d.Add(n.Fault(finding.ValueUnknown, path, finding.DidYouMean(n.Text, e.Values(), ""), "%s is %q, and must be %s",
			quotedPath(path), n.Text, finding.Either(e.Values())))
		return
	}
	v.SetString(n.Text)
}

func (d *Decoding) integer(n *Node, path string, v reflect.Value) {
	switch {
	case n.Kind != Int:
		d.wrong(n, path, "", "an integer")
	case n.Ambiguous():
		d.Add(n.AmbiguousFault(path))
	case v.OverflowInt(n.Value.(int64)):
		d.Add(n.Fault(finding.NumberOutOfRange, path, "", "%s is too large", n.Text))
	default:
		v.SetInt(n.Value.(int64))
	}
}

// AmbiguousFault is what there is to say about an ambiguous number where a number is wanted.
func (n *Node) AmbiguousFault(path string) finding.Finding {
	digits := strings.TrimLeft(strings.TrimLeft(n.Text, "+-"), "0")
	fix := fmt.Sprintf("write %d", n.Value)
	if v, err := strconv.ParseInt(digits, 8, 64); err == nil {
		fix = fmt.Sprintf("write 0o%s (%d) or %d", digits, v, n.Value)
	}
	return n.Fault(finding.NumberAmbiguous, path, fix,
		"%s is octal to some readers of YAML and decimal to others", n.Text)
}

func (d *Decoding) list(n *Node, path string, v reflect.Value) {
	if n.Kind != List {
		example := ""
		if n.Kind == String && v.Type().Elem().Kind() == reflect.String {
			example = "[" + n.Text + "]"
		}
		d.wrong(n, path, example, "a list")
		return
	}
	all := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.Value(item, At(path, i, item), all.Index(i))
	}
	v.Set(all)
}

func (d *Decoding) mapping(n *Node, path string, v reflect.Value) {
	if n.Kind != Map {
		d.wrong(n, path, "KEY: VALUE lines, or {KEY: VALUE}", "a map")
		return
	}
	all := reflect.MakeMapWithSize(v.Type(), len(n.Fields))
	for _, f := range n.Fields {
		e := reflect.New(v.Type().Elem()).Elem()
		d.Value(f.Value, Join(path, f.Name), e)
		all.SetMapIndex(reflect.ValueOf(f.Name).Convert(v.Type().Key()), e)
	}
	v.Set(all)
}

// object decodes a map into a struct.
func (d *Decoding) object(n *Node, path string, v reflect.Value) {
	fields := Keys(v.Type())
	if n.Kind != Map {
		d.wrong(n, path, example(n, fields), "a map")
		return
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.Key
	}
	var hints map[string]string
	if h, ok := v.Addr().Interface().(Hinted); ok {
		hints = h.Hints()
	}
	for _, f := range n.Fields {
		i := slices.Index(known, f.Name)
		if i < 0 {
			d.unknown(f, path, known, hints)
			continue
		}
		d.Value(f.Value, Join(path, f.Name), v.FieldByIndex(fields[i].Index))
	}
	for _, f := range fields {
		if f.Required && n.Field(f.Key) == nil {
			d.Add(n.Fault(finding.KeyMissing, Join(path, f.Key), "", "%s has no %s", quotedPath(path), f.Key))
		}
	}
}

// example shows a map with its required keys; the value that was written goes to the first.
func example(n *Node, fields []Key) string {
	var parts []string
	for _, f := range fields {
		switch {
		case !f.Required:
		case len(parts) == 0 && n.Kind != List && n.Kind != Null:
			parts = append(parts, f.Key+": "+n.Text)
		default:
			parts = append(parts, f.Key+": ...")
		}
	}
	if len(parts) == 0 && len(fields) > 0 {
		parts = append(parts, fields[0].Key+": ...")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (d *Decoding) unknown(f Field, path string, known []string, hints map[string]string) {
	fix, ok := hints[f.Name]
	if !ok {
		fix = finding.DidYouMean(f.Name, known, "known here: "+strings.Join(known, ", "))
	}
	d.Add(f.Key.Fault(finding.UnknownKey, Join(path, f.Name), fix, "unknown key %q", f.Name))
}

// Findings gives what was found so far.
func (d *Decoding) Findings() finding.List { return finding.Of(d.findings...) }
