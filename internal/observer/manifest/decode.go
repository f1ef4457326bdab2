package manifest

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"

	"github.com/berthdev/berth/internal/finding"
)

// decoder decodes as the API server does under strict field validation.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err) // the types are constant
	}
	return serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
}()

// What a strict decoder says of a key.
var (
	unknownField   = regexp.MustCompile(`^unknown field "(.*)"$`)
	wrongType      = regexp.MustCompile(`Go struct field \w+\.([\w.]+) of type (\w+)$`)
	duplicateField = regexp.MustCompile(`^duplicate field "(.*)"$`)
)

// decode reads an object, and says whether there is one. Keys that it has no use for are findings.
func (d document) decode(data []byte, h header, into runtime.Object) bool {
	kind := corev1.SchemeGroupVersion.WithKind(h.Kind)
	_, _, err := decoder.Decode(data, &kind, into)
	if err == nil {
		return true
	}
	if !runtime.IsStrictDecodingError(err) {
		if m := wrongType.FindStringSubmatch(err.Error()); m != nil {
			d.fault(finding.WrongType, "%s of %s must be of type %s", m[1], h, m[2])
		} else {
			d.fault(finding.WrongType, "%s can't be read", h)
		}
		return false
	}
	several, ok := err.(interface{ Errors() []error })
	if !ok {
		return true
	}
	for _, e := range several.Errors() {
		if m := unknownField.FindStringSubmatch(e.Error()); m != nil {
			d.ignored(h, m[1], reflect.TypeOf(into).Elem())
		} else if m := duplicateField.FindStringSubmatch(e.Error()); m != nil {
			d.found(finding.KeyTwice, key(m[1]), "remove one of them", "%s of %s occurs twice: the last one counts", m[1], h)
		}
	}
	return true
}

// ignored says that a key has no effect, and which one would.
func (d document) ignored(h header, path string, t reflect.Type) {
	fix := finding.DidYouMean(key(path), fieldsAt(t, path), "remove it")
	d.found(finding.UnknownKey, key(path), fix, "the API server ignores or refuses %s of %s", path, h)
}

// key is the last key of a path.
func key(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// fieldsAt gives the keys that are known beside the last one of a path.
func fieldsAt(t reflect.Type, path string) []string {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		k, _, indexed := strings.Cut(k, "[")
		f, ok := field(t, k)
		if !ok {
			return nil
		}
		if t = plain(f.Type); indexed && t.Kind() == reflect.Slice {
			t = plain(t.Elem())
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var known []string
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" {
			known = append(known, name)
		}
	}
	return known
}

func plain(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func field(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for _, f := range reflect.VisibleFields(t) {
		if jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func (d document) fault(code finding.Code, format string, args ...any) {
	d.Findings.Add(finding.Finding{Code: code, Severity: finding.Error, File: d.file, Line: d.line, Message: fmt.Sprintf(format, args...)})
}

// found is a warning at a key: at its line, if it stands in the document only once.
func (d document) found(code finding.Code, key, fix, format string, args ...any) {
	f := finding.Finding{Code: code, Severity: finding.Warning, File: d.file, Fix: fix, Message: fmt.Sprintf(format, args...)}
	at := regexp.MustCompile(`(?m)(?:^|[\s{,-])["']?(`+regexp.QuoteMeta(key)+`)["']?\s*:`).FindAllSubmatchIndex(d.text, 2)
	if len(at) == 1 {
		before := d.text[:at[0][2]]
		f.Line = d.line + bytes.Count(before, []byte("\n"))
		f.Column = len(before) - bytes.LastIndexByte(before, '\n')
	}
	d.Findings.Add(f)
}
