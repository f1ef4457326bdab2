package v1

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func readGolden(t *testing.T, kind string) []byte {
	t.Helper()
	data, err := os.ReadFile("golden/" + kind + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func payloadOf(kind string) any {
	switch kind {
	case KindWorkloads:
		return &WorkloadMetadata{}
	case KindNodes:
		return &NodeMetadata{}
	}
	return &Coverage{}
}

// A golden read into its type and written again has the same bytes: the types know every key.
func TestGoldenRoundTrip(t *testing.T) {
	for _, kind := range Kinds() {
		want := readGolden(t, kind)
		payload := payloadOf(kind)
		d := json.NewDecoder(bytes.NewReader(want))
		d.DisallowUnknownFields()
		if err := d.Decode(payload); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var b bytes.Buffer
		var err error
		switch p := payload.(type) {
		case *WorkloadMetadata:
			err = WriteWorkloads(&b, p.Envelope, pointers(p.Records))
		case *NodeMetadata:
			err = WriteNodes(&b, p.Envelope, pointers(p.Nodes))
		case *Coverage:
			err = WriteCoverage(&b, p)
		}
		if err != nil || b.String() != string(want) {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", kind, err, &b, want)
		}
		if bytes.Count(want, []byte("\n")) != 1 || !bytes.HasSuffix(want, []byte("}\n")) {
			t.Errorf("%s is not one line", kind)
		}
		if whole, err := Encode(payload); err != nil || string(whole)+"\n" != string(want) {
			t.Errorf("%s: encoded as a whole it has other bytes (%v)", kind, err)
		}
	}
}

func pointers[T any](all []T) func(func(*T) bool) {
	return func(yield func(*T) bool) {
		for i := range all {
			if !yield(&all[i]) {
				return
			}
		}
	}
}

func compile(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema(kind)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(kind, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(kind)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGoldensAreValid(t *testing.T) {
	for _, kind := range Kinds() {
		schema := compile(t, kind)
		golden := readGolden(t, kind)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(golden))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		// A key that no schema has, an absent one that has to be there, a value of another kind.
		for _, change := range [][2]string{{`"schema":1`, `"schema":1,"x":1`}, {`"source":`, `"sauce":`}, {`"captured_at":"`, `"captured_at":"on `}} {
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.Replace(string(golden), change[0], change[1], 1)))
			if err != nil {
				t.Fatal(err)
			}
			if schema.Validate(doc) == nil {
				t.Errorf("%s: the schema takes %s", kind, change[1])
			}
		}
	}
}

// Each key of a type is in its schema with a description of the same kind, and no others are.
func TestSchemasHaveTheKeysOfTheTypes(t *testing.T) {
	for _, kind := range Kinds() {
		var root map[string]any
		if err := json.Unmarshal(JSONSchema(kind), &root); err != nil {
			t.Fatal(err)
		}
		defs, _ := root["$defs"].(map[string]any)
		sameKeys(t, kind, reflect.TypeOf(payloadOf(kind)).Elem(), root, defs)
	}
}

func sameKeys(t *testing.T, at string, typ reflect.Type, schema, defs map[string]any) {
	if ref, ok := schema["$ref"].(string); ok {
		schema = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ.Kind() == reflect.Slice:
		sameKeys(t, at+"[]", typ.Elem(), schema["items"].(map[string]any), defs)
	case typ.Kind() == reflect.Map:
		if typ.Elem().Kind() == reflect.Struct {
			sameKeys(t, at+"{}", typ.Elem(), schema["additionalProperties"].(map[string]any), defs)
		}
	case typ.Kind() == reflect.Struct && typ.Name() != "Time":
		properties := schema["properties"].(map[string]any)
		var optional, known []string
		for _, f := range reflect.VisibleFields(typ) {
			key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key == "" {
				continue
			}
			known = append(known, key)
			if option == "omitempty" {
				optional = append(optional, key)
			}
			p, ok := properties[key].(map[string]any)
			if !ok {
				t.Errorf("%s.%s is not in the schema", at, key)
				continue
			}
			sameKeys(t, at+"."+key, f.Type, p, defs)
		}
		for key := range properties {
			if !slices.Contains(known, key) {
				t.Errorf("%s.%s of the schema is not in the type", at, key)
			}
		}
		required, _ := schema["required"].([]any)
		if len(required)+len(optional) != len(known) {
			t.Errorf("%s: %v are required, and %v may be absent, of %v", at, required, optional, known)
		}
		for _, key := range required {
			if slices.Contains(optional, key.(string)) {
				t.Errorf("%s.%s is required, and may be absent", at, key)
			}
		}
	}
}
