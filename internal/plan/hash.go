package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// Hash is the SHA-256, in hexadecimal, of the plan's canonical JSON: without origins, with keys in order,
// without white space and escapes for HTML.
func (p *Plan) Hash() string {
	bare := *p
	bare.Steps = make([]Step, len(p.Steps))
	for i, s := range p.Steps {
		s.Pod.Origins, s.Asks = nil, nil
		bare.Steps[i] = s
	}
	sum := sha256.Sum256(canonical(bare))
	return hex.EncodeToString(sum[:])
}

// canonical is the value's JSON in a form that does not depend on the order of Go's fields: encoding/json
// writes the keys of maps in order.
func canonical(v any) []byte { return encode(untyped(reflect.ValueOf(v))) }

// untyped turns structs into maps, as encoding/json would write them.
func untyped(v reflect.Value) any {
	switch v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return untyped(v.Elem())
	case reflect.Struct:
		m := make(map[string]any, v.NumField())
		for i := range v.NumField() {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if options == "omitempty" && empty(v.Field(i)) || options == "omitzero" && v.Field(i).IsZero() {
				continue
			}
			m[name] = untyped(v.Field(i))
		}
		return m
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
			return v.Interface()
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = untyped(v.Index(i))
		}
		return list
	case reflect.Map:
		if v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
			return v.Interface()
		}
		m := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			m[key.String()] = untyped(v.MapIndex(key))
		}
		return m
	}
	return v.Interface()
}

// empty is what omitempty means.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a plan holds nothing that JSON has not
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// UnmarshalJSON reads integers as int64.
func (o *Object) UnmarshalJSON(data []byte) error {
	var m map[string]any
	if err := kjson.Unmarshal(data, &m); err != nil {
		return err
	}
	*o = m
	return nil
}
