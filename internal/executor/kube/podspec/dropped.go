package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/placement"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Difference is a value of a pod that the API server did not store as it was sent.
type Difference struct {
	Path    placement.Path // in the pod: it begins with metadata or spec
	Sent    any
	Stored  any  // nil if Missing
	Missing bool // nothing is stored there
}

// String is the difference in one line.
func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("%s: sent %s, and it is not stored", d.Path, shown(d.Sent))
	}
	return fmt.Sprintf("%s: sent %s, stored %s", d.Path, shown(d.Sent), shown(d.Stored))
}

func shown(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

var podType = reflect.TypeFor[corev1.Pod]()

// Dropped gives all that was sent and is not in the API server's answer, or is there with another
// value, in order. An API server drops a field whose feature gate is off, and says 201 Created, also
// under strict field validation; and webhooks change what they like. What the answer has beyond what
// was sent (defaults, what admission added) is no difference.
//
// Items of lists are compared by their keys, where the list has any, else by their index. Quantities
// are compared by what they are worth, and of what Kubernetes can't tell from nothing (an empty map,
// a zero that is not written) nothing need be stored.
func Dropped(sent, answer map[string]any) []Difference {
	var c comparison
	c.object(nil, podType, sent, answer)
	return c.all
}

// comparison walks through what was sent. Beside it go the schema, which knows the keys of lists, and
// the Kubernetes type, which knows quantities and zeros; either is nil where it knows of nothing.
type comparison struct {
	path placement.Path
	all  []Difference
}

func (c *comparison) object(s *placement.Schema, t reflect.Type, sent, stored map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		field := s.Field(name)
		if len(c.path) == 0 && name == "spec" {
			field = placement.PodSpec()
		}
		c.at(placement.Segment{Name: name}, func() { c.value(field, fieldType(t, name), sent[name], stored[name]) })
	}
}

func (c *comparison) at(s placement.Segment, do func()) {
	c.path = append(c.path, s)
	do()
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) differ(sent, stored any) {
	c.all = append(c.all, Difference{Path: slices.Clone(c.path), Sent: sent, Stored: stored, Missing: stored == nil})
}

func (c *comparison) value(s *placement.Schema, t reflect.Type, sent, stored any) {
	if stored == nil {
		if says(t, sent) {
			c.differ(sent, nil)
		}
		return
	}
	switch v := sent.(type) {
	case nil:
	case map[string]any:
		if w, ok := stored.(map[string]any); ok {
			c.object(s, t, v, w)
			return
		}
		c.differ(sent, stored)
	case []any:
		if w, ok := stored.([]any); ok {
			c.list(s, itemType(t), v, w)
			return
		}
		c.differ(sent, stored)
	default:
		if !same(t, sent, stored) {
			c.differ(sent, stored)
		}
	}
}

// list finds the stored item for each that was sent. Of several with one key, which Kubernetes allows
// for env, the first is held against the first.
func (c *comparison) list(s *placement.Schema, t reflect.Type, sent, stored []any) {
	partners(s, sent, stored, func(id string, item, found any) {
		c.at(placement.Segment{Name: id, Item: true}, func() {
			if found == nil {
				c.differ(item, nil)
				return
			}
			c.value(s, t, item, found)
		})
	})
}

// partners calls do with each item of a list and the item of the other that has its identity, nil if none is
// left.
func partners(s *placement.Schema, list, other []any, do func(id string, item, partner any)) {
	byID := map[string][]any{}
	for i, item := range other {
		id := identity(s, item, i)
		byID[id] = append(byID[id], item)
	}
	for i, item := range list {
		id := identity(s, item, i)
		var partner any
		if left := byID[id]; len(left) > 0 {
			partner, byID[id] = left[0], left[1:]
		}
		do(id, item, partner)
	}
}

// identity is an item's key, or its index in a list that has no keys.
func identity(s *placement.Schema, item any, i int) string {
	if o, ok := item.(map[string]any); ok && s.Keyed() {
		if id, missing := s.Identity(o); missing == "" {
			return id
		}
	}
	return strconv.Itoa(i)
}

// says tells whether it makes a difference that the value is there. Kubernetes leaves out empty maps
// and lists and most zeros; where it knows null from zero the type is a pointer.
func says(t reflect.Type, v any) bool {
	switch {
	case v == nil:
		return false
	case t == nil, t.Kind() == reflect.Pointer, t == quantityType:
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if t.Kind() == reflect.Map {
			return len(v) > 0
		}
		for name, e := range v {
			if says(fieldType(t, name), e) {
				return true
			}
		}
		return false
	case []any:
		return len(v) > 0
	default:
		n, isNumber := number(v)
		return v != "" && v != false && !(isNumber && n == 0)
	}
}

var quantityType = reflect.TypeFor[resource.Quantity]()

// same compares two single values.
func same(t reflect.Type, a, b any) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == quantityType {
		p, errP := quantity(a)
		q, errQ := quantity(b)
		return errP == nil && errQ == nil && p.Cmp(q) == 0
	}
	x, xNumber := number(a)
	y, yNumber := number(b)
	if xNumber && yNumber {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func quantity(v any) (resource.Quantity, error) {
	if n, ok := v.(float64); ok {
		return resource.ParseQuantity(strconv.FormatFloat(n, 'f', -1, 64))
	}
	return resource.ParseQuantity(fmt.Sprint(v))
}

// number is a number of a decoded file or answer. No number of a pod is too large for a float64: they
// are times, ids and ports.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// fieldType is the type of a field by its JSON name, or of a map's values; nil if there is none.
func fieldType(t reflect.Type, name string) reflect.Type {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return nil
	case t.Kind() == reflect.Map:
		return t.Elem()
	case t.Kind() != reflect.Struct:
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == name && tag != "":
			return f.Type
		case tag == "" && f.Anonymous: // its fields are this type's
			if inner := fieldType(f.Type, name); inner != nil {
				return inner
			}
		}
	}
	return nil
}

func itemType(t reflect.Type) reflect.Type {
	if t != nil && t.Kind() == reflect.Slice {
		return t.Elem()
	}
	return nil
}
