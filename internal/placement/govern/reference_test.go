package govern

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/placement"
)

// TestEveryReferenceIsFound walks the Kubernetes types. Each string below a PodSpec that names a Secret, a
// claim or a service account, by what its field or a type that it is in is called, must be found in a fragment
// that has nothing else.
func TestEveryReferenceIsFound(t *testing.T) {
	about := regexp.MustCompile(`(?i)secret|claim|serviceaccount|podcertificate|localobjectreference|typedobjectreference`)
	naming := regexp.MustCompile(`(?i)^name$|secret|claim|serviceaccount|volumename`)
	// Names within the pod, of classes, of templates and of signers.
	local := regexp.MustCompile(`^resourceClaims\.(name|resourceClaimTemplateName)$|resources\.claims\.name$|(storage|volumeAttributes)ClassName$|` +
		`volumeClaimTemplate\.metadata\.|volumeClaimTemplate\.spec\.(selector|resources)\.`)
	seen := 0
	var walk func(typ reflect.Type, path []string, build func(any) any, types string)
	walk = func(typ reflect.Type, path []string, build func(any) any, types string) {
		if len(path) > 12 {
			t.Fatalf("%v goes round", path)
		}
		switch typ.Kind() {
		case reflect.Pointer:
			walk(typ.Elem(), path, build, types)
		case reflect.Slice:
			walk(typ.Elem(), path, func(v any) any { return build([]any{v}) }, types)
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				switch {
				case name == "-":
				case name == "":
					walk(f.Type, path, build, types+" "+typ.String()+" "+f.Type.String())
				default:
					walk(f.Type, append(slices.Clone(path), name), func(v any) any { return build(map[string]any{name: v}) }, types+" "+typ.String())
				}
			}
		case reflect.String, reflect.Bool:
			where, last := strings.Join(path, "."), path[len(path)-1]
			isToken := last == "automountServiceAccountToken"
			if !isToken && (typ.Kind() == reflect.Bool || !about.MatchString(where+types) || !naming.MatchString(last) ||
				local.MatchString(where) || strings.Contains(types, "ConfigMap")) {
				return
			}
			seen++
			var value any = "x"
			if isToken {
				value = true
			}
			fragment := build(value).(map[string]any)
			found := find(nil, placement.PodSpec(), fragment, fragment)
			if len(found) != 1 || !isToken && found[0].Name != "x" {
				t.Errorf("%s: found %v", where, found)
			}
		}
	}
	walk(reflect.TypeFor[corev1.PodSpec](), nil, func(v any) any { return v }, "")
	if seen < 25 {
		t.Errorf("only %d references found in the types: the walk is broken", seen)
	}
}

// TestProjections has every source of a projected volume: a new one needs a decision whether it is a credential.
func TestProjections(t *testing.T) {
	credential := map[string]bool{"secret": true, "serviceAccountToken": true, "podCertificate": true,
		"configMap": false, "downwardAPI": false, "clusterTrustBundle": false}
	typ := reflect.TypeFor[corev1.VolumeProjection]()
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		want, known := credential[name]
		if !known {
			t.Errorf("is %s a credential?", name)
		}
		source := map[string]any{name: map[string]any{"name": "x", "path": "p"}}
		fragment := map[string]any{"volumes": []any{map[string]any{"name": "v", "projected": map[string]any{"sources": []any{source}}}}}
		if got := len(find(nil, placement.PodSpec(), fragment, fragment)) > 0; got != want {
			t.Errorf("%s is found: %t", name, got)
		}
	}
}

// TestRequestIsAValue stores a request and judges what is read back.
func TestRequestIsAValue(t *testing.T) {
	operator := load(t, permitsNothing)
	run := compile(t, operator, greedy, "")
	request := NewRequest(&run.Steps[0], "prod", operator)
	want := request.Check(operator)
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var back Request
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Check(operator); !reflect.DeepEqual(got, want) || len(want) < 5 {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

const permitsNothing = `
version: 1
placement_profiles: [{name: reserved, restricted: true, k8s: {}}]
environments: [{name: prod, permits: {k8s_overlay: [labels]}}]
`

const greedy = `
version: 1
name: p
environment: prod
steps:
  - name: a
    image: i
    run: x
    placement_profiles: [reserved]
    secrets: {A: s/k}
    service_account: sa
    k8s_overlay: {serviceAccountName: admin, priorityClassName: high, imagePullSecrets: [{name: r}]}
`

// TestWithdrawn judges a request by operator files that came after the one that admitted it.
func TestWithdrawn(t *testing.T) {
	const permits = `
version: 1
placement_profiles: [{name: reserved, restricted: true, k8s: {}}]
environments:
  - name: prod
    permits: {k8s_overlay: true, placement_profiles: [reserved], secrets: [s, r], service_accounts: [sa, admin]}
`
	operator := load(t, permits)
	run := compile(t, operator, greedy, "")
	request := NewRequest(&run.Steps[0], "prod", operator)
	tests := []struct {
		name, old, new string
		want           []string // paths of what is denied
	}{
		{"unchanged", "", "", nil},
		{"no overlay", "k8s_overlay: true", "k8s_overlay: false", []string{"k8s_overlay"}},
		{"fewer fields", "k8s_overlay: true", "k8s_overlay: [serviceAccountName, imagePullSecrets]", []string{"k8s_overlay.priorityClassName"}},
		{"a Secret of the step", "[s, r]", "[r]", []string{"secrets"}},
		{"a Secret of the overlay", "[s, r]", "[s]", []string{"k8s_overlay.imagePullSecrets[r]"}},
		{"accounts", "[sa, admin]", "[]", []string{"service_account", "k8s_overlay.serviceAccountName"}},
		{"a profile", "placement_profiles: [reserved], ", "", []string{"placement_profiles"}},
		{"a profile that is gone, with its permit", "placement_profiles: [{name: reserved, restricted: true, k8s: {}}]\nenvironments:\n  - name: prod\n    permits: {k8s_overlay: true, placement_profiles: [reserved],",
			"environments:\n  - name: prod\n    permits: {k8s_overlay: true,", []string{"placement_profiles"}},
		{"a profile that is free to all by now", "restricted: true, k8s: {}}]\nenvironments", "k8s: {}}]\nenvironments", nil},
		{"the environment", "name: prod", "name: production", []string{""}},
	}
	for _, test := range tests {
		if !strings.Contains(permits, test.old) {
			t.Fatalf("%s: nothing is changed", test.name)
		}
		var got []string
		for _, d := range request.Check(load(t, strings.Replace(permits, test.old, test.new, 1))) {
			got = append(got, d.Finding().Path)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: denied are %q, want %q", test.name, got, test.want)
		}
	}
}
