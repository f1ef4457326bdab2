package fragment

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/source"
)

// writeOut writes a value and reads it back as a file.
func writeOut(t *rapid.T, v any) (*source.Node, string) {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n, list := source.Parse("f.json", text)
	if list.Len() > 0 {
		t.Fatalf("%s\n%s", text, list.Text(nil))
	}
	return n, string(text)
}

// mistake changes one place of a value, and says how.
func mistake(t *rapid.T, root map[string]any) string {
	type place struct {
		in  any
		key string
		i   int
	}
	var places []place
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				places = append(places, place{v, k, 0})
				collect(v[k])
			}
		case []any:
			for i, e := range v {
				places = append(places, place{v, "", i})
				collect(e)
			}
		}
	}
	collect(root)
	p := rapid.SampledFrom(places).Draw(t, "place")
	wrong := rapid.SampledFrom([]any{nil, true, 7, 1.5, "y", "${{ y }}", "5MB", []any{}, map[string]any{}, []any{"y"}, []any{nil},
		[]any{map[string]any{}}, map[string]any{"y": "z"}, map[string]any{"y": nil}}).Draw(t, "wrong")
	m, isMap := p.in.(map[string]any)
	switch how := rapid.IntRange(0, 3).Draw(t, "how"); {
	case !isMap:
		p.in.([]any)[p.i] = wrong
	case how == 0:
		v := m[p.key]
		delete(m, p.key)
		m[strings.ToUpper(p.key[:1])+p.key[1:]] = v
		return p.key + " is mis-cased"
	case how == 1:
		delete(m, p.key)
		return p.key + " is missing"
	default:
		m[p.key] = wrong
	}
	return fmt.Sprintf("%s[%d] is %v", p.key, p.i, wrong)
}

// filler fills values of the Kubernetes types, to a depth at which most are reached.
type filler struct {
	*rapid.T
	text func() string
	int  func() int64
}

func (f filler) fill(v reflect.Value, depth int) {
	chance := func() bool { return rapid.IntRange(0, min(depth, 6)).Draw(f.T, "chance") == 0 }
	switch p := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*p = resource.MustParse(rapid.SampledFrom([]string{"1", "2Gi", "512Mi", "4k"}).Draw(f.T, "quantity"))
		return
	case *intstr.IntOrString:
		*p = rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(80), intstr.FromString("http")}).Draw(f.T, "port")
		return
	case *metav1.Time:
		*p = metav1.Unix(1700000000, 0)
		return
	case *metav1.FieldsV1:
		p.SetRawBytes([]byte(`{"f:a":{"n":1.5}}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(f.T, "bool"))
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.int())
	case reflect.Pointer:
		if chance() {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 2)) // without it JSON may have a null
		for v.Len() < 2 && chance() {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			f.fill(v.Index(v.Len()-1), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for v.Len() < 2 && chance() {
			key, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth)
			f.fill(e, depth)
			v.SetMapIndex(key, e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), depth)
		}
	default:
		f.Fatalf("no way to fill a %s", v.Type())
	}
}
