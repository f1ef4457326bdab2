package profile

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/source"
)

const acme = "../../../examples/acme/operator.yaml"

func readACME(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(acme)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestACME reads the file that newcomers read first. It has every key that there is, but those of beside.
func TestACME(t *testing.T) {
	text := readACME(t)
	file, findings := Load(acme, []byte(text))
	if findings.Len() > 0 {
		t.Fatalf("findings:\n%s", findings.Text(map[string]string{acme: text}))
	}
	if got := file.ProfileNames(); !slices.Equal(got, []string{"amd64", "arm64", "critical", "general", "gpu", "reserved"}) {
		t.Errorf("profiles: %v", got)
	}
	if p := file.Profile("reserved"); !p.Restricted || !p.MayBeEmpty || file.DefaultProfile().Name != "general" {
		t.Errorf("reserved is %+v, and the default %+v", p, file.DefaultProfile())
	}
}

// beside are keys that the ACME file leaves as they are, so that it can be tried on any machine.
var beside = map[string]any{
	"executor.kubernetes.namespace":         "ci",
	"executor.kubernetes.keep.succeeded":    "1m",
	"executor.kubernetes.force_delete_lost": true,
	"logs.archive":                          "file:///var/lib/berth/logs",
	"logs.follow":                           "always",
}

// everyKey is the ACME file with all keys.
func everyKey(t *testing.T) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(readACME(t)), &tree); err != nil {
		t.Fatal(err)
	}
	for at, value := range beside {
		keys := strings.Split(at, ".")
		m := tree
		for _, key := range keys[:len(keys)-1] {
			if m[key] == nil {
				m[key] = map[string]any{}
			}
			m = m[key].(map[string]any)
		}
		m[keys[len(keys)-1]] = value
	}
	return tree
}

func inYAML(t *testing.T, tree map[string]any) string {
	t.Helper()
	text, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEveryKeyCounts leaves each key out of that file in turn, or gives it another value if it has to
// be there: the File must be another one. A key that is accepted and lost is the worst fault.
func TestEveryKeyCounts(t *testing.T) {
	whole := dumped(t, inYAML(t, everyKey(t)))
	for _, key := range allKeys(reflect.TypeFor[Document](), nil) {
		if key.name() == "version" {
			continue // what it says is that the file can be read at all
		}
		t.Run(key.name(), func(t *testing.T) {
			tree := everyKey(t)
			if !change(tree, key.path, key.required) {
				t.Fatal("the file does not have it")
			}
			if dumped(t, inYAML(t, tree)) == whole {
				t.Error("the File is the same with it and without it")
			}
		})
	}
}

func dumped(t *testing.T, text string) string {
	t.Helper()
	file := load(t, text)
	file.Name = ""
	return toYAML(t, dump(reflect.ValueOf(*file)))
}

type authoredKey struct {
	path     []string
	required bool
}

func (k authoredKey) name() string { return strings.Join(k.path, ".") }

// allKeys gives the keys that have a value of their own, rather than more keys.
func allKeys(t reflect.Type, at []string) []authoredKey {
	var keys []authoredKey
	for _, k := range source.Keys(t) {
		path := append(slices.Clone(at), k.Key)
		of := k.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		var below []authoredKey
		if of.Kind() == reflect.Struct {
			below = allKeys(of, path)
		}
		if below == nil {
			below = []authoredKey{{path, k.Required}}
		}
		keys = append(keys, below...)
	}
	return keys
}

// change does so in the first place that has the key.
func change(v any, path []string, required bool) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return change(e, path, required) })
	case map[string]any:
		value, ok := v[path[0]]
		switch {
		case !ok:
			return false
		case len(path) > 1:
			return change(value, path[1:], required)
		case required || path[0] == "k8s" || path[0] == "profile_conflicts" || path[0] == "pod_security":
			v[path[0]] = another(value)
		default:
			delete(v, path[0])
		}
		return true
	}
	return false
}

// another is a value that a key takes as well, and that is not its default.
func another(v any) any {
	switch v := v.(type) {
	case string:
		others := map[string]string{"warn": "reject", "baseline": "restricted"}
		if other := others[v]; other != "" {
			return other
		}
		return v + "-x"
	case int:
		return v + 1
	default:
		fragment := maps.Clone(v.(map[string]any))
		fragment["labels"] = map[string]any{"another": "label"}
		return fragment
	}
}

// TestSchema holds the JSON Schema to the ACME file, and to a mistake in each of its kinds of values.
func TestSchema(t *testing.T) {
	schema := compileSchema(t)
	if err := schema.Validate(instance(t, readACME(t))); err != nil {
		t.Errorf("the ACME file: %v", err)
	}
	for _, text := range []string{
		"{}", "version: 1\nbaselin: {}", "version: one", "version: 1\nprofile_conflicts: no",
		"version: 1\nbaseline: {resources: {cpu: 1}}", "version: 1\nbaseline: {resources: {cpu: '1', limits: {}}}",
		"version: 1\nenvironments: [{name: a, permits: {k8s_overlay: affinity}}]",
	} {
		if schema.Validate(instance(t, text)) == nil {
			t.Errorf("the schema takes\n%s", text)
		}
	}
}

// TestDocs holds every key to a line that says what it is.
func TestDocs(t *testing.T) {
	var look func(schema map[string]any, at string)
	look = func(schema map[string]any, at string) {
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			p := p.(map[string]any)
			if text, _ := p["description"].(string); text == "" || strings.Contains(text, "\n") || strings.HasSuffix(text, ".") {
				t.Errorf("%s.%s: %q", at, name, text)
			}
			look(p, at+"."+name)
			if items, ok := p["items"].(map[string]any); ok {
				look(items, at+"."+name)
			}
		}
	}
	look(source.Schema(reflect.TypeFor[Document](), "operator file"), "")
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text := toJSON(t, source.Schema(reflect.TypeFor[Document](), "operator file"))
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("operator.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("operator.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func instance(t *testing.T, text string) any {
	t.Helper()
	root, findings := source.Parse("operator.yaml", []byte(text))
	if findings.HasErrors() {
		t.Fatal(findings.Text(nil))
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(toJSON(t, root.Any())))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func toJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
