package fragment

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kind is what a value must be.
type kind int

const (
	anything kind = iota // JSON that its reader alone understands
	text
	boolean
	integer
	quantity
	intOrString
	timestamp
	list
	dict // a map with keys that are not known
	object
)

// shape is a Kubernetes type, as far as reading a value of it needs to know. Shapes are shared, and
// nothing writes to them once podSpec has given them out.
type shape struct {
	typ    reflect.Type
	kind   kind
	elem   *shape            // of a list's items, of a dict's values
	fields map[string]*shape // of an object, by their names in JSON
	names  []string          // of the fields, sorted
}

// podSpec is the shape of a fragment: a PodSpec, and the two keys that go to the pod's metadata.
var podSpec = sync.OnceValue(func() *shape {
	all := shapes{}
	root := *all.of(reflect.TypeFor[corev1.PodSpec]())
	root.fields = maps.Clone(root.fields)
	for _, name := range []string{"labels", "annotations"} {
		root.fields[name] = all.of(reflect.TypeFor[map[string]string]())
	}
	root.names = slices.Sorted(maps.Keys(root.fields))
	return &root
})

// special has the types that are not written as what they are made of.
var special = map[reflect.Type]kind{
	reflect.TypeFor[resource.Quantity]():  quantity,
	reflect.TypeFor[intstr.IntOrString](): intOrString,
	reflect.TypeFor[metav1.Time]():        timestamp,
	reflect.TypeFor[metav1.FieldsV1]():    anything,
}

// shapes has a shape for each type that was met, so that each is made once.
type shapes map[reflect.Type]*shape

func (all shapes) of(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := all[t]; s != nil {
		return s
	}
	s := &shape{typ: t}
	all[t] = s
	k, isSpecial := special[t]
	switch {
	case isSpecial:
		s.kind = k
	case t.Kind() == reflect.String:
		s.kind = text
	case t.Kind() == reflect.Bool:
		s.kind = boolean
	case t.Kind() == reflect.Int32, t.Kind() == reflect.Int64:
		s.kind = integer
	case t.Kind() == reflect.Slice:
		s.kind, s.elem = list, all.of(t.Elem())
	case t.Kind() == reflect.Map:
		s.kind, s.elem = dict, all.of(t.Elem())
	case t.Kind() == reflect.Struct:
		s.kind, s.fields = object, map[string]*shape{}
		all.addFields(s.fields, t)
		s.names = slices.Sorted(maps.Keys(s.fields))
	}
	return s
}

// addFields adds the fields of a struct, those of embedded ones among them.
func (all shapes) addFields(fields map[string]*shape, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && f.Anonymous:
			all.addFields(fields, f.Type)
		default:
			fields[name] = all.of(f.Type)
		}
	}
}
