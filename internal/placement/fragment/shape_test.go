package fragment

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestShapes walks the Kubernetes types beside the shapes: each field that can be reached must have one
// of a kind that the reader knows, and each type that reads itself must be known to do so.
func TestShapes(t *testing.T) {
	for _, name := range []string{"labels", "annotations"} {
		if s := podSpec().fields[name]; s == nil || s.kind != dict || !slices.Contains(podSpec().names, name) {
			t.Errorf("a fragment has %s", name)
		}
	}
	met := map[reflect.Type]bool{}
	walk(t, met, "", reflect.TypeFor[corev1.PodSpec](), podSpec())
	if len(met) < 100 {
		t.Fatalf("only %d types found below a PodSpec: the walk is broken", len(met))
	}
	for typ := range special {
		if !met[typ] {
			t.Errorf("%s is special, and no field of a PodSpec has it", typ)
		}
	}
}

func walk(t *testing.T, met map[reflect.Type]bool, path string, typ reflect.Type, s *shape) {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if met[typ] {
		return
	}
	met[typ] = true
	_, isSpecial := special[typ]
	_, unmarshals := reflect.New(typ).Interface().(json.Unmarshaler)
	switch {
	case s == nil:
		t.Errorf("%s: no shape for %s", path, typ)
		return
	case unmarshals != isSpecial:
		t.Errorf("%s: %s reads itself: %t, and is special: %t", path, typ, unmarshals, isSpecial)
	case s.kind == anything && typ != reflect.TypeFor[metav1.FieldsV1]():
		t.Errorf("%s: nothing is known of %s", path, typ)
	}
	switch s.kind {
	case list, dict:
		if typ.Kind() == reflect.Map && typ.Key().Kind() != reflect.String {
			t.Errorf("%s: keys are %s", path, typ.Key())
		}
		walk(t, met, path+"[]", typ.Elem(), s.elem)
	case object:
		for name, f := range fieldsOfType(typ) {
			if !slices.Contains(s.names, name) {
				t.Errorf("%s has no field %s", path, name)
			}
			walk(t, met, path+"."+name, f, s.fields[name])
		}
	}
}

// fieldsOfType gives the fields of a struct by their names in JSON.
func fieldsOfType(typ reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		switch name, _, _ := strings.Cut(f.Tag.Get("json"), ","); {
		case name == "" && f.Anonymous:
			maps.Copy(fields, fieldsOfType(f.Type))
		case name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}

// TestReservedFieldsExist keeps the tables of reserved fields from falling behind the types.
func TestReservedFieldsExist(t *testing.T) {
	container := podSpec().fields["containers"].elem
	for fields, s := range map[*map[string]string]*shape{&reservedOfPod: podSpec(), &reservedOfContainer: container, &reservedOfStep: container} {
		for name := range *fields {
			if s.fields[name] == nil {
				t.Errorf("%s has no field %s", s.typ, name)
			}
		}
	}
	for name := range above {
		if podSpec().fields[name] != nil {
			t.Errorf("%s is a field of a PodSpec by now", name)
		}
	}
	for typ := range combined {
		if !reaches(podSpec(), typ, map[*shape]bool{}) {
			t.Errorf("no field of a PodSpec has %s", typ)
		}
	}
}

func reaches(s *shape, typ reflect.Type, seen map[*shape]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	return s.typ == typ || reaches(s.elem, typ, seen) || slices.ContainsFunc(s.names, func(name string) bool { return reaches(s.fields[name], typ, seen) })
}
