package observertest

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Marks are strings that were written into an object, each somewhere else.
type Marks struct {
	paths map[string]string // of a mark: where it stands, such as spec.containers[].env[].value
}

// Fill writes a mark into every string below the pointer, and something into everything else: lists and
// maps get an item, pointers something to point to. What Kubernetes adds to a type is filled as well.
func Fill(object any) *Marks {
	m := &Marks{paths: map[string]string{}}
	m.fill(reflect.ValueOf(object).Elem(), "")
	return m
}

// mark is short enough for every bound, a valid label value, and no part of another mark.
func (m *Marks) mark(path string) string {
	s := fmt.Sprintf("zq%dqz", len(m.paths))
	m.paths[s] = path
	return s
}

func (m *Marks) fill(v reflect.Value, path string) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse("7")))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Unix(1_700_000_000, 0)))
		return
	case metav1.MicroTime:
		v.Set(reflect.ValueOf(metav1.NewMicroTime(time.Unix(1_700_000_000, 0))))
		return
	case metav1.FieldsV1:
		v.Set(reflect.ValueOf(*metav1.NewFieldsV1(`{"` + m.mark(path) + `":{}}`)))
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromString(m.mark(path))))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(m.mark(path))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), path)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(m.mark(path)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		m.fill(v.Index(0), path+"[]")
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		m.fill(key, path+"{key}")
		m.fill(value, path+"{}")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				panic(fmt.Sprintf("observertest: no way to fill %s of %s", f.Name, v.Type()))
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			at := path
			if name != "" {
				at = strings.TrimPrefix(path+"."+name, ".")
			}
			m.fill(v.Field(i), at)
		}
	default:
		panic(fmt.Sprintf("observertest: no way to fill a %s at %s", v.Type(), path))
	}
}

// Count is how many marks there are.
func (m *Marks) Count() int { return len(m.paths) }

var markPattern = regexp.MustCompile(`zq\d+qz`)

// Found gives where the marks that are in a text stand, sorted, each once.
func (m *Marks) Found(text []byte) []string {
	var found []string
	for _, s := range markPattern.FindAll(text, -1) {
		found = append(found, m.paths[string(s)])
	}
	slices.Sort(found)
	return slices.Compact(found)
}
