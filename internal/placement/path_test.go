package placement

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	field := func(n string) Segment { return Segment{Name: n} }
	item := func(n string) Segment { return Segment{n, true} }
	tests := []struct {
		text string
		want Path
	}{
		{"tolerations", Path{field("tolerations")}},
		{"containers[step].env[HTTP_PROXY]", Path{field("containers"), item("step"), field("env"), item("HTTP_PROXY")}},
		{"tolerations[workload-type:Equal:batch:NoSchedule]", Path{field("tolerations"), item("workload-type:Equal:batch:NoSchedule")}},
		{`nodeSelector."kubernetes.io/os"`, Path{field("nodeSelector"), field("kubernetes.io/os")}},
		{`annotations.team/cost`, Path{field("annotations"), field("team/cost")}},
		{"tolerations[node.kubernetes.io/not-ready:Exists::NoExecute]", Path{field("tolerations"), item("node.kubernetes.io/not-ready:Exists::NoExecute")}},
		{`containers[step].volumeMounts[/data].readOnly`, Path{field("containers"), item("step"), field("volumeMounts"), item("/data"), field("readOnly")}},
		{`a."\"\\".b`, Path{field("a"), field(`"\`), field("b")}},
		{`a[""]`, Path{field("a"), item("")}},
		{`a["]"]`, Path{field("a"), item("]")}},
	}
	for _, test := range tests {
		got, err := ParsePath(test.text)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("ParsePath(%q) = %#v, %v, want %#v", test.text, got, err, test.want)
		}
		if text := test.want.String(); text != test.text {
			t.Errorf("String gives %q, want %q", text, test.text)
		}
	}
}

func TestParsePathErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "character 1: expected a key here"},
		{"a.", "character 3: expected a key here"},
		{"a..b", "character 3: expected a key here"},
		{".a", "character 1: expected a key here"},
		{"[a]", "character 1: a path begins with a key"},
		{"a[b][c]", "character 5: an item of a list has keys"},
		{"a[b]c", "character 5: expected a dot or [ here"},
		{"a[b", "character 4: expected ] here"},
		{"a[]", "character 3: expected a key here"},
		{"ä b", "character 2: expected a dot or [ here"},
		{`a."b`, "character 3: this double quote is never closed"},
		{`a."\n"`, "character 5: a backslash stands only before"},
		{`a"b"`, "character 2: expected a dot or [ here"},
	}
	for _, test := range tests {
		if path, err := ParsePath(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParsePath(%q) = %v, %v, want an error with %q", test.text, path, err, test.want)
		}
	}
}

func genPath() *rapid.Generator[Path] {
	return rapid.Custom(func(t *rapid.T) Path {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z"\\.\[\] :/]{0,6}`))
		path := Path{{Name: name.Draw(t, "first")}}
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			item := !path[len(path)-1].Item && rapid.Bool().Draw(t, "item")
			path = append(path, Segment{name.Draw(t, "name"), item})
		}
		return path
	})
}

func TestPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := genPath().Draw(t, "path")
		back, err := ParsePath(path.String())
		if err != nil || !reflect.DeepEqual(back, path) {
			t.Fatalf("%q is read as %#v, %v", path.String(), back, err)
		}
		data, err := json.Marshal(path)
		var again Path
		if err != nil || json.Unmarshal(data, &again) != nil {
			t.Fatalf("JSON: %s, %v", data, err)
		}
	})
}

// What can be read has one spelling at most: the one that it is read back to.
func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"a.b[c].d", `a."b.c"`, `a["]"]`, "a[b][c]", `a."\"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			return
		}
		back, err := ParsePath(path.String())
		if err != nil || !reflect.DeepEqual(path, back) {
			t.Errorf("%q is read as %#v, which is written %q and read as %#v, %v", text, path, path, back, err)
		}
	})
}

func TestCovers(t *testing.T) {
	paths := []string{"a", "a.b", "a[b]", "a[b].c", "aa", "A", "a[bb]"}
	want := map[string]string{ // what it covers beside itself
		"a": "a.b a[b] a[b].c a[bb]", "a[b]": "a[b].c",
	}
	for _, p := range paths {
		for _, q := range paths {
			covers := p == q || strings.Contains(" "+want[p]+" ", " "+q+" ")
			if got := MustPath(p).Covers(MustPath(q)); got != covers {
				t.Errorf("%s covers %s: %t", p, q, got)
			}
		}
		if !(Path{}).Covers(MustPath(p)) || MustPath(p).Covers(Path{}) {
			t.Errorf("the empty path covers %s and is covered by nothing else", p)
		}
	}
}
