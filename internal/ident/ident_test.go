package ident

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	label := func(s string) error { return Label(s, 40) }
	tests := []struct {
		name  string
		check func(string) error
		good  []string
		bad   map[string]string // name: what the error says
	}{
		{"label", label, []string{"a", "0", "a-b", "a--b", strings.Repeat("a", 40)}, map[string]string{
			"": "empty", "A": "upper-case letter (A)", "a_b": `'_'`, "-a": "hyphen", "a-": "hyphen", "ä": `'ä'`, "a.b": `'.'`,
			strings.Repeat("a", 41): "41 characters, and 40"}},
		{"subdomain", Subdomain, []string{"a", "a.b-c.d"}, map[string]string{
			"": "empty", "a..b": "empty", "A.b": "upper-case", "a/b": `'/'`, strings.Repeat("a.", 127) + "a": "255 characters"}},
		{"variable", Variable, []string{"A", "_", "a1", "HTTP_PROXY"}, map[string]string{
			"": "empty", "1A": "digit", "A-B": `'-'`, "A.B": `'.'`, "A=": `'='`, "Ä": `'Ä'`}},
		{"secret key", SecretKey, []string{"token", "tls.crt", ".dockerconfigjson", "A_b-c"}, map[string]string{
			"": "empty", ".": "path", "..": "path", "../x": "path", "a/b": `'/'`, strings.Repeat("a", 254): "254"}},
	}
	for _, test := range tests {
		for _, s := range test.good {
			if err := test.check(s); err != nil {
				t.Errorf("%s %q %v", test.name, s, err)
			}
		}
		for s, want := range test.bad {
			if err := test.check(s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v, want %s", test.name, s, err, want)
			}
		}
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"amd64": "amd64", "Go 1.26": "go-1-26", "linux/arm64": "linux-arm64", "--x--": "x", "äöü": "", "A__B": "a-b", "": "",
	} {
		got := Slug(in)
		if got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
		if got != "" && Label(got, 63) != nil {
			t.Errorf("Slug(%q) = %q is no label", in, got)
		}
	}
}

func TestPodName(t *testing.T) {
	const run = "01J9ZZZZZZZZZZZZZZZZZZZZZZ"
	if got := PodName("test-amd64", run, 3); got != "test-amd64-01j9zzzzzzzzzzzzzzzzzzzzzz-3" {
		t.Error(got)
	}
	seen := map[string]bool{}
	long := strings.Repeat("a", 31) + "-" + strings.Repeat("b", 31)
	for _, step := range []string{long, long[:62], strings.Repeat("a", 40), strings.Repeat("a", 41), "a"} {
		for _, attempt := range []int{1, 2, 999} {
			name := PodName(step, run, attempt)
			if err := Label(name, 63); err != nil || seen[name] {
				t.Errorf("%s %v", name, err)
			}
			seen[name] = true
		}
	}
}
