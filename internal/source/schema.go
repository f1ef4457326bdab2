package source

import (
	"fmt"
	"reflect"
)

// Schemed is a type that says itself how JSON Schema describes it. Each type that reads itself has to.
type Schemed interface {
	JSONSchema() map[string]any
}

// Schema is the JSON Schema (2020-12) of what Decode takes for a value of the type: the same keys, the
// same kinds, no others. What Decode does not check either, such as a name that must be known, is not
// in it.
func Schema(t reflect.Type, title string) map[string]any {
	s := schemaOf(t)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = title
	return s
}

func schemaOf(t reflect.Type) map[string]any {
	switch v := reflect.New(t).Interface().(type) {
	case Schemed:
		return v.JSONSchema()
	case FromNode:
		panic(fmt.Sprintf("source: %s reads itself and has no JSON Schema", t))
	case **Node:
		return map[string]any{"type": "object"}
	case *Text:
		return map[string]any{"type": []any{"string", "number", "boolean"}}
	case Enumerated:
		values := []any{}
		for _, value := range v.Values() {
			values = append(values, value)
		}
		return map[string]any{"enum": values}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Struct:
		return objectSchema(t)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	panic(fmt.Sprintf("source: no JSON Schema for %s", t))
}

func objectSchema(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, key := range Keys(t) {
		p := schemaOf(key.Type)
		if key.Doc != "" {
			p["description"] = key.Doc
		}
		properties[key.Key] = p
		if key.Required {
			required = append(required, key.Key)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
