package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/source"
)

// compiledSchema is what `berth schema NAME` prints, ready to check with.
func compiledSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	stdout, stderr, code := berth("schema", name)
	if code != exitOK {
		t.Fatalf("berth schema %s: exit code %d, %s", name, code, stderr)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name+".json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + ".json") // against the meta-schema too
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// schemaRefuses says why the schema refuses a YAML text; nil if it does not.
func schemaRefuses(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(document)
}

// kindOfExample says which schema a file under examples is for; empty for files of other programs.
func kindOfExample(name string) string {
	if filepath.Base(filepath.Dir(name)) == "why" { // objects of Kubernetes
		return ""
	}
	switch filepath.Base(name) {
	case "nodes.yaml":
		return ""
	case "operator.yaml":
		return "operator"
	default:
		return "pipeline"
	}
}

func TestSchemasTakeTheExamples(t *testing.T) {
	compiled := map[string]*jsonschema.Schema{"pipeline": compiledSchema(t, "pipeline"), "operator": compiledSchema(t, "operator")}
	seen := map[string]int{}
	err := filepath.WalkDir("../../examples", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return err
		}
		kind := kindOfExample(name)
		if kind == "" {
			return nil
		}
		seen[kind]++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := schemaRefuses(t, compiled[kind], string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return nil
	})
	if err != nil || seen["pipeline"] == 0 || seen["operator"] == 0 {
		t.Errorf("looked at %v: %v", seen, err)
	}
}

// Each key that decoding takes is in the schema, with its description, and no other key is.
func TestSchemasHaveEveryKey(t *testing.T) {
	for _, s := range schemas {
		stdout, _, _ := berth("schema", s.name)
		var document map[string]any
		if err := json.Unmarshal([]byte(stdout), &document); err != nil {
			t.Fatal(err)
		}
		if n := compareKeys(t, s.of, document, s.name); n < 15 {
			t.Errorf("%s: only %d keys were looked at", s.name, n)
		}
	}
}

// compareKeys counts the keys of the type and of all types below it.
func compareKeys(t *testing.T, of reflect.Type, schema map[string]any, path string) int {
	t.Helper()
	of, schema = unwrap(of, schema)
	if readsItself(of) || of.Kind() != reflect.Struct {
		return 0
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	if schema["additionalProperties"] != false {
		t.Errorf("%s: the schema takes keys that are not known", path)
	}
	keys := source.Keys(of)
	if len(keys) != len(properties) {
		t.Errorf("%s: the type has %d keys, and the schema %d", path, len(keys), len(properties))
	}
	count := len(keys)
	for _, key := range keys {
		at := path + "." + key.Key
		p, ok := properties[key.Key].(map[string]any)
		if !ok {
			t.Errorf("%s: the schema does not have it", at)
			continue
		}
		if key.Doc == "" || p["description"] != key.Doc {
			t.Errorf("%s: described as %v, and the type says %q", at, p["description"], key.Doc)
		}
		if slices.Contains(required, any(key.Key)) != key.Required {
			t.Errorf("%s: the type and the schema disagree whether it is required", at)
		}
		count += compareKeys(t, key.Type, p, at)
	}
	return count
}

// unwrap goes to what pointers, lists and maps hold, in the type and in the schema.
func unwrap(of reflect.Type, schema map[string]any) (reflect.Type, map[string]any) {
	for !readsItself(of) {
		below := ""
		switch of.Kind() {
		case reflect.Pointer:
			of = of.Elem()
			continue
		case reflect.Slice:
			below = "items"
		case reflect.Map:
			below = "additionalProperties"
		default:
			return of, schema
		}
		of = of.Elem()
		schema, _ = schema[below].(map[string]any)
	}
	return of, schema
}

// What decoding refuses, the schema refuses, and validate says so. The first case of each file is right, so
// that the others are refused for what is wrong with them.
func TestSchemasRefuseWhatBerthRefuses(t *testing.T) {
	const (
		step     = "version: 1\nname: p\nsteps:\n  - {name: a, run: x, image: i, resources: {cpu: \"1\"}"
		operator = "version: 1\n"
	)
	tests := []struct {
		file, what, text string
		bad              bool
	}{
		{"pipeline", "nothing", step + "}\n", false},
		{"pipeline", "unknown key", step + "}\nstages: []\n", true},
		{"pipeline", "unknown key of a step", step + ", runs_on: arm64}\n", true},
		{"pipeline", "unknown key of a service", step + ", services: [{name: s, image: i, ports: [80]}]}\n", true},
		{"pipeline", "step's own key under defaults", step + "}\ndefaults: {run: x}\n", true},
		{"pipeline", "list for a string", step + ", working_dir: [a]}\n", true},
		{"pipeline", "string for a list", step + ", needs: a}\n", true},
		{"pipeline", "string for a boolean", step + ", allow_failure: \"true\"}\n", true},
		{"pipeline", "number for a duration", step + ", timeout: 30}\n", true},
		{"pipeline", "number for a string", step + ", pool: 4}\n", true},
		{"pipeline", "number for a quantity", step + ", services: [{name: s, image: i, resources: {cpu: 1}}]}\n", true},
		{"pipeline", "float for an integer", step + ", priority: 1.5}\n", true},
		{"pipeline", "list for a variable", step + ", env: {A: [x]}}\n", true},
		{"pipeline", "float in a matrix", step + ", matrix: {v: [1.20]}}\n", true},
		{"pipeline", "value that is none of those there are", step + ", retry: {max: 1, on: [failed]}}\n", true},
		{"pipeline", "text for a fragment", step + ", k8s_overlay: all}\n", true},
		{"pipeline", "no name", "version: 1\nsteps: [{name: a, run: x}]\n", true},
		{"pipeline", "no steps", "version: 1\nname: p\n", true},
		{"pipeline", "no name of a step", "version: 1\nname: p\nsteps: [{run: x}]\n", true},
		{"pipeline", "no size of a workspace", step + "}\nworkspace: {storage_class: fast}\n", true},
		{"operator", "nothing", operator, false},
		{"operator", "unknown key", operator + "profiles: []\n", true},
		{"operator", "unknown key of a profile", operator + "placement_profiles: [{name: a, nodeSelector: {}, k8s: {}}]\n", true},
		{"operator", "text for a boolean or a list", operator + "environments: [{name: a, permits: {k8s_overlay: all}}]\n", true},
		{"operator", "text for an integer", operator + "pools: [{name: a, slots: many}]\n", true},
		{"operator", "value that is none of those there are", operator + "profile_conflicts: ignore\n", true},
		{"operator", "number for a quantity", operator + "resource_limits: {cpu: 32}\n", true},
		{"operator", "text for a fragment", operator + "baseline: {k8s: none}\n", true},
		{"operator", "no k8s of a profile", operator + "placement_profiles: [{name: a}]\n", true},
		{"operator", "no version", "pools: []\n", true},
	}
	compiled := map[string]*jsonschema.Schema{"pipeline": compiledSchema(t, "pipeline"), "operator": compiledSchema(t, "operator")}
	for _, test := range tests {
		t.Run(test.file+"/"+test.what, func(t *testing.T) {
			if err := schemaRefuses(t, compiled[test.file], test.text); (err != nil) != test.bad {
				t.Errorf("the schema says %v of\n%s", err, test.text)
			}
			if code, out := validateText(t, test.file, test.text); (code == exitInvalid) != test.bad {
				t.Errorf("berth validate: exit code %d, %s", code, out)
			}
		})
	}
}

// validateText runs validate on a pipeline file, or on a good one with an operator file.
func validateText(t *testing.T, kind, text string) (code int, out string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), kind+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"validate", file}
	if kind == "operator" {
		args = []string{"validate", "../../examples/hello.yaml", "--operator", file}
	}
	stdout, stderr, code := berth(args...)
	return code, stdout + stderr
}

// A fragment is opaque to the schema: fields of any Kubernetes version may be in it, and validate looks at
// them.
func TestSchemasTakeAnyFragment(t *testing.T) {
	const fragment = "{nodeSelector: {a: b}, fieldOfTomorrow: [{x: 1}], containers: [{name: step, anything: null}]}"
	texts := map[string]string{
		"pipeline": "version: 1\nname: p\nsteps: [{name: a, run: x, k8s_overlay: " + fragment + "}]\n",
		"operator": "version: 1\nbaseline: {k8s: " + fragment + "}\nplacement_profiles: [{name: a, k8s: " + fragment + "}]\n",
	}
	for name, text := range texts {
		if err := schemaRefuses(t, compiledSchema(t, name), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if reflect.TypeFor[profile.Document]() != schemas[1].of {
		t.Error("the schema of the operator file is not that of what is read")
	}
}
