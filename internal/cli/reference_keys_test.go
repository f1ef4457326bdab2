package cli

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/source"
)

const keysIntroduction = `What is not required may be left out. What follows from that is said with the key; where nothing is
said, it is an empty text, list or map, or false. A key that is not here is an error.
`

func pipelineReference() string {
	b := &strings.Builder{}
	b.WriteString(generatedFrom("the types in internal/pipeline"))
	b.WriteString("# Keys of the pipeline file\n\n" + keysIntroduction)
	b.WriteString("[The guide](../guide/pipeline.md) says how they work together, and\n[pipeline.schema.json](pipeline.schema.json) lets editors check them.\n")
	writeSections(b, sectionsOf(reflect.TypeFor[pipeline.Pipeline]()))
	writeForms(b, true)
	b.WriteString("\n## Keys that people know from elsewhere\n\nThey are errors, whose fix says what to write instead.\n\n### In a step\n\n")
	writeHints(b, pipeline.Step{})
	b.WriteString("\n### In a service\n\n")
	writeHints(b, pipeline.Service{})
	return b.String()
}

func operatorReference() string {
	b := &strings.Builder{}
	b.WriteString(generatedFrom("the types in internal/placement/profile"))
	b.WriteString("# Keys of the operator file\n\n" + keysIntroduction)
	b.WriteString("[The guide](../guide/placement.md) says how they work together, and\n[operator.schema.json](operator.schema.json) lets editors check them.\n")
	writeSections(b, sectionsOf(reflect.TypeFor[profile.Document]()))
	writeForms(b, false)
	return b.String()
}

// common is the type of the keys that steps and defaults share. They are explained with a step's.
var common = reflect.TypeFor[pipeline.Common]()

// section is a struct with where it stands: steps[].services[].
type section struct {
	path string
	of   reflect.Type
}

// sectionsOf gives the struct and all those below it, each once, parents first.
func sectionsOf(root reflect.Type) []section {
	all := []section{{"", root}}
	for i := 0; i < len(all); i++ {
		if all[i].of == common {
			continue
		}
		for _, key := range source.Keys(all[i].of) {
			t, suffix := element(key.Type)
			known := slices.ContainsFunc(all, func(s section) bool { return s.of == t })
			if t.Kind() == reflect.Struct && !readsItself(t) && !known {
				all = append(all, section{source.Join(all[i].path, key.Key) + suffix, t})
			}
		}
	}
	return all
}

// element is what a list, a map or a pointer holds, with how a path says so.
func element(t reflect.Type) (of reflect.Type, suffix string) {
	for !readsItself(t) {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Slice:
			t, suffix = t.Elem(), suffix+"[]"
		case reflect.Map:
			t, suffix = t.Elem(), suffix+".NAME"
		default:
			return t, suffix
		}
	}
	return t, suffix
}

// readsItself says whether the type is no map of keys, whatever its fields are.
func readsItself(t reflect.Type) bool {
	_, schemed := reflect.New(t).Interface().(source.Schemed)
	return schemed || t == reflect.TypeFor[*source.Node]()
}

func writeSections(b *strings.Builder, all []section) {
	for _, s := range all {
		title := "The file"
		if s.path != "" {
			title = "`" + s.path + "`"
		}
		fmt.Fprintf(b, "\n## %s\n\n", title)
		if s.of == common {
			writeCommon(b)
			continue
		}
		var rows [][]string
		for _, key := range source.Keys(s.of) {
			required := ""
			if key.Required {
				required = "required"
			}
			rows = append(rows, []string{"`" + key.Key + "`", typeName(key.Type, all), required, key.Doc})
		}
		writeTable(b, []string{"key", "type", "", "what"}, rows)
	}
}

// writeCommon names the keys that are explained with those of a step.
func writeCommon(b *strings.Builder) {
	var names []string
	for _, key := range source.Keys(common) {
		names = append(names, "`"+key.Key+"`")
	}
	fmt.Fprintf(b, "These keys of [a step](#steps), for every step:\n%s.\n", strings.Join(names, ", "))
}

// typeName is the type as a reader of the file sees it.
func typeName(t reflect.Type, all []section) string {
	switch t {
	case reflect.TypeFor[source.Duration]():
		return "duration"
	case reflect.TypeFor[source.Text]():
		return "string, number or boolean"
	case reflect.TypeFor[*source.Node]():
		return "[fragment](../guide/placement.md#fragments)"
	case reflect.TypeFor[*fragment.Resources]():
		return "[resources](#resources)"
	case reflect.TypeFor[*pipeline.Matrix]():
		return "[matrix](#matrix)"
	}
	switch v := reflect.New(t).Interface().(type) {
	case source.Schemed:
		return schemaName(v.JSONSchema())
	case source.Enumerated:
		return finding.Either(codeSpans(v.Values()))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem(), all)
	case reflect.Slice:
		return "list of " + plurals.Replace(typeName(t.Elem(), all))
	case reflect.Map:
		return "map of name to " + typeName(t.Elem(), all)
	case reflect.Struct:
		i := slices.IndexFunc(all, func(s section) bool { return s.of == t })
		return "[map](#" + anchor(all[i].path) + ")"
	case reflect.String:
		return "string"
	case reflect.Int:
		return "integer"
	case reflect.Bool:
		return "boolean"
	}
	panic(fmt.Sprintf("no name for %s", t))
}

// plurals of types of which there are lists.
var plurals = strings.NewReplacer("string", "strings", "[map]", "[maps]")

// schemaName is the type that a JSON Schema describes.
func schemaName(s map[string]any) string {
	if forms, ok := s["anyOf"].([]any); ok {
		var names []string
		for _, one := range forms {
			names = append(names, schemaName(one.(map[string]any)))
		}
		return strings.Join(names, " or ")
	}
	if s["type"] == "array" {
		return "list of " + schemaName(s["items"].(map[string]any)) + "s"
	}
	return fmt.Sprint(s["type"])
}

// anchor is the heading's, as GitHub makes it.
func anchor(path string) string {
	keep := func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}
	return strings.ToLower(strings.Map(keep, path))
}

func codeSpans(all []string) []string {
	spans := make([]string, len(all))
	for i, text := range all {
		spans[i] = "`" + text + "`"
	}
	return spans
}

// writeForms explains the values that read themselves.
func writeForms(b *strings.Builder, matrix bool) {
	b.WriteString("\n## Resources\n\nBy name of the resource, in one of two forms. The short one sets request and limit to the same number:\n" +
		"\n```yaml\n{cpu: \"2\", memory: 4Gi}\n```\n\nThe long one sets exactly what it says:\n" +
		"\n```yaml\n{requests: {cpu: \"1\"}, limits: {memory: 4Gi}}\n```\n\n" +
		"Quantities are strings, as Kubernetes has them; a number has to be quoted.\n")
	if matrix {
		b.WriteString("\n## Matrix\n\n")
		properties := pipeline.Matrix{}.JSONSchema()["properties"].(map[string]any)
		rows := [][]string{{"`NAME`", "list of strings, integers and booleans", "the values of the axis with this name"}}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			rows = append(rows, []string{"`" + name + "`", "list of maps of axis to value", properties[name].(map[string]any)["description"].(string)})
		}
		writeTable(b, []string{"key", "type", "what"}, rows)
	}
	if matrix {
		b.WriteString("\n## Duration\n\nA number with a unit, or several: `90s`, `5m`, `1h30m`. The units are `ns`, `us`, `ms`, `s`, `m` and `h`.\n")
	}
}

func writeHints(b *strings.Builder, of source.Hinted) {
	var rows [][]string
	hints := of.Hints()
	for _, name := range slices.Sorted(maps.Keys(hints)) {
		rows = append(rows, []string{"`" + name + "`", hints[name]})
	}
	writeTable(b, []string{"key", "instead"}, rows)
}
