package census

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/finding"
)

// fieldLike is the field of a pod template that a misspelt key may have meant; "" if none is near.
func fieldLike(path, key string) string {
	near, ok := finding.Nearest(key, podFields)
	if !ok || near == key {
		return ""
	}
	return near
}

// podFields are the names of all fields of a pod's spec, and of what is in it.
var podFields = func() []string {
	seen := map[reflect.Type]bool{}
	names := map[string]bool{}
	var all []string
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "" && name != "-" && !names[name] {
				names[name] = true
				all = append(all, name)
			}
			walk(t.Field(i).Type)
		}
	}
	walk(reflect.TypeFor[corev1.PodSpec]())
	return all
}()
