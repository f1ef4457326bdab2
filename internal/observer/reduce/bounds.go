package reduce

import (
	"cmp"
	"fmt"
	"hash/fnv"
)

// Bounds of what is said. Kubernetes' own maxima are below them where it has any, so that nothing legal is
// left out, but for lists and maps of unusual size.
const (
	MostTerms   = 32  // in a list
	MostValues  = 16  // in an expression
	MostEntries = 32  // in a map
	MostKey     = 317 // bytes of a label, taint, topology or resource key: 253, a slash, 63
	MostName    = 253 // bytes of an object's name
	MostImage   = 512 // bytes of an image reference

	DefaultStringBytes = 128 // of every other string; a label's value has at most 63
)

// Bounds are those that can be set.
type Bounds struct {
	StringBytes int // 0 is DefaultStringBytes
}

func (b Bounds) text() int {
	if b.StringBytes == 0 {
		return DefaultStringBytes
	}
	return b.StringBytes
}

// Drop is something that was left out. Equal drops of the pods of one record are one.
type Drop struct {
	Field string // as a record's incomplete names it
	Terms bool   // a whole list or map; else a value
	at    uint64 // which, within the field: a hash, so that what was left out is not kept here
}

func (d Drop) compare(other Drop) int {
	return cmp.Or(cmp.Compare(d.Field, other.Field), cmp.Compare(d.at, other.at))
}

// trimmer reads the parts of one object, and notes what it leaves out.
type trimmer struct {
	Bounds
	field string // that is being read
	drops []Drop
}

// fits says whether a string is within its bound, and notes it if not.
func (t *trimmer) fits(s string, most int, at string, i int) bool {
	if len(s) <= most {
		return true
	}
	t.drop(false, fmt.Sprintf("%s %d", at, i))
	return false
}

func (t *trimmer) drop(terms bool, at string) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%t %s", terms, at)
	t.drops = append(t.drops, Drop{Field: t.field, Terms: terms, at: h.Sum64()})
}

// list gives the items, or none of them if there are too many: a part of a list would read as all of it.
func list[T any](t *trimmer, items []T) []T {
	if len(items) > MostTerms {
		t.drop(true, "")
		return nil
	}
	return items
}

// word gives a string, or nothing if it is past its bound.
func (t *trimmer) word(s string, most int) string {
	if !t.fits(s, most, "", 0) {
		return ""
	}
	return s
}
