package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/transcript"
)

// What is said of configuration files, and what comes of them.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		body := sections[0].Body
		f, findings := Load("config.yaml", []byte(body))
		out := prose + sections[0].String() + "-- loaded --\n"
		if f != nil {
			out += fmt.Sprintf("%+v\n", *f)
		}
		if f != nil && !schemaTakes(t, body) {
			t.Errorf("the schema refuses\n%s", body)
		}
		return out + findings.Text(map[string]string{"config.yaml": body})
	})
}

// schemaTakes says whether the JSON Schema takes a file.
func schemaTakes(t *testing.T, text string) bool {
	t.Helper()
	schema, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("config")
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if doc, err = jsonschema.UnmarshalJSON(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc) == nil
}

func FuzzLoad(f *testing.F) {
	f.Add("version: 1\nnamespaces: {allow: [a*]}\n")
	f.Add("version: 2\nspool: {bytes: 1}\ninterval: {max: 1s}\nnode_labels: ['']\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, findings := Load("f", []byte(text))
		if (file == nil) != findings.HasErrors() {
			t.Errorf("%v, and %s", file, findings.Text(nil))
		}
		if file != nil && strings.Contains(fmt.Sprint(file.Namespaces.Allow), " ") && len(file.Namespaces.Allow) == 1 {
			t.Errorf("a pattern with a space: %q", file.Namespaces.Allow)
		}
	})
}
