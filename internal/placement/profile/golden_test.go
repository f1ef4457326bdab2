package profile

import (
	"bytes"
	"encoding"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/source"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata show what the operator file may say and what is said of mistakes in it. Each
// case begins with "== TITLE" and prose, and has the sections "-- operator.yaml --", "-- findings --", and
// "-- file --", which is there if the file can be used.
func TestGolden(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", transcribe)
}

// transcribe gives a case again, with what really comes out.
func transcribe(t *testing.T, text string) string {
	prose, sections := transcript.Sections(text)
	written := sections[0].Body
	file, findings := Load("operator.yaml", []byte(written))
	if (file == nil) != findings.HasErrors() {
		t.Errorf("%s: a file and errors, or neither", prose)
	}
	out := prose + sections[0].String() +
		"-- findings --\n" + findings.Text(map[string]string{"operator.yaml": written})
	if file != nil {
		out += "-- file --\n" + toYAML(t, dump(reflect.ValueOf(*file)))
	}
	return out
}

// dump is all that a File says, as maps and lists, without where it was written. What is zero is left out.
func dump(v reflect.Value) any {
	if text, ok := v.Interface().(encoding.TextMarshaler); ok {
		data, err := text.MarshalText()
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return dump(v.Elem())
	case reflect.Struct:
		m := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "Revision" || f.Type == reflect.TypeFor[*source.Node]() || v.Field(i).IsZero() {
				continue
			}
			m[f.Name] = dump(v.Field(i))
		}
		return m
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = dump(v.Index(i))
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for _, key := range v.MapKeys() {
			m[key.String()] = dump(v.MapIndex(key))
		}
		return m
	default:
		return v.Interface()
	}
}

func toYAML(t testing.TB, v any) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
