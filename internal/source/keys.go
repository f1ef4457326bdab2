package source

import (
	"reflect"
	"strings"
	"sync"
)

// Key is a key that a struct takes.
type Key struct {
	Key      string
	Doc      string // what it is, for the JSON Schema
	Required bool
	Index    []int // of the struct's field
	Type     reflect.Type
}

// Keys gives the keys that a struct takes, in the order of its fields. Those of an embedded struct are
// among them; fields without a tag are not. The slice is only to be read.
func Keys(t reflect.Type) []Key {
	if keys, ok := keysOf.Load(t); ok {
		return keys.([]Key)
	}
	var keys []Key
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("yaml")
		if !ok || !f.IsExported() {
			continue
		}
		name, option, _ := strings.Cut(tag, ",")
		keys = append(keys, Key{name, f.Tag.Get("doc"), option == "required", f.Index, f.Type})
	}
	keysOf.Store(t, keys)
	return keys
}

// keysOf remembers what Keys found: types don't change.
var keysOf sync.Map // reflect.Type: []Key
