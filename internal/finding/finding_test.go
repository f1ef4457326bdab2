package finding

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCodes reads codes.go: every constant of type Code must be registered, in snake_case, once.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	written := map[Code]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Code" {
			return true
		}
		for i, name := range spec.Names {
			text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, twice := written[Code(text)]; twice {
				t.Errorf("%s and %s are both %q", other, name.Name, text)
			}
			written[Code(text)] = name.Name
		}
		return true
	})
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	byTitle := map[string]Code{}
	for code, name := range written {
		if !snake.MatchString(string(code)) {
			t.Errorf("%s: %q is not snake_case", name, code)
		}
		title := code.Title()
		if title == "" {
			t.Errorf("%s has no title", name)
		}
		if other, twice := byTitle[title]; twice {
			t.Errorf("%s and %s have the same title", other, code)
		}
		byTitle[title] = code
	}
	if got := Codes(); len(got) != len(written) || !slices.IsSorted(got) {
		t.Errorf("%d codes are registered and %d are constants, or they are not sorted", len(got), len(written))
	}
}

func TestListOrder(t *testing.T) {
	in := []Finding{
		{Severity: Error, Path: "b", Message: "no position"},
		{Severity: Note, File: "b.yaml", Line: 1},
		{Severity: Error, File: "a.yaml", Message: "no line"},
		{Severity: Error, File: "a.yaml", Line: 10, Column: 1},
		{Severity: Note, File: "a.yaml", Line: 2, Column: 5},
		{Severity: Error, File: "a.yaml", Line: 2, Column: 5},
		{Severity: Error, File: "a.yaml", Line: 2},
		{Severity: Error, File: "a.yaml", Line: 2, Column: 3},
	}
	want := []Finding{in[0], in[7], in[5], in[4], in[6], in[3], in[2], in[1]}
	for shift := range in {
		turned := append(slices.Clone(in[shift:]), in[:shift]...)
		list := Of(turned...)
		list.Add(turned[0]) // a second time
		if got := list.All(); !reflect.DeepEqual(got, want) {
			t.Fatalf("turned by %d: got\n%v\nwant\n%v", shift, got, want)
		}
	}
}

func TestListShares(t *testing.T) {
	a := Of(Finding{Message: "m"})
	b := a
	b.Add(Finding{Message: "a"})
	a.All()[0].Message = "changed"
	if a.Len() != 1 || a.All()[0].Message != "m" || b.Len() != 2 {
		t.Errorf("adding to a copy shows in the original: %v, %v", a, b)
	}
	if moved := a.In("f.yaml"); moved.All()[0].File != "f.yaml" || a.All()[0].File != "" {
		t.Errorf("In: %v from %v", moved, a)
	}
}

func TestHasErrors(t *testing.T) {
	if Of(Finding{Severity: Warning}, Finding{Severity: Note}).HasErrors() {
		t.Error("warnings and notes are no errors")
	}
	list := Of(Finding{Severity: Warning})
	list.Join(Of(Finding{Severity: Error}))
	if !list.HasErrors() {
		t.Error("an error was joined")
	}
}

func TestJSON(t *testing.T) {
	list := Of(Finding{LockedField, Error, "op.yaml", 3, 7, "nodeSelector.a", "m", "f"}, Finding{Code: ItemTwice, Severity: Note})
	got, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"code":"item_twice","severity":"note","file":"","line":0,"column":0,"path":"","message":"","fix":""},` +
		`{"code":"locked_field","severity":"error","file":"op.yaml","line":3,"column":7,"path":"nodeSelector.a","message":"m","fix":"f"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var back List
	if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, list) {
		t.Errorf("read back: %v, %v", back, err)
	}
	if empty, _ := json.Marshal(List{}); string(empty) != "[]" {
		t.Errorf("an empty list is %s", empty)
	}
}

func TestText(t *testing.T) {
	sources := map[string]string{"long.yaml": strings.Repeat("a", 5000) + "X" + strings.Repeat("b", 4999), "p.yaml": "steps:\n\t- größe: 1.20\r\n\x1b[31m"}
	tests := []struct {
		name string
		in   Finding
		want string
	}{
		{"caret after a tab and wide letters", Finding{"c", Error, "p.yaml", 2, 11, "x", "not a string", "quote it"},
			"p.yaml:2:11: error: not a string (c)\n    2 | \t- größe: 1.20\n      | \t         ^\n    fix: quote it\n"},
		{"no column", Finding{Code: "c", Severity: Note, File: "p.yaml", Line: 1, Message: "m"},
			"p.yaml:1: note: m (c)\n    1 | steps:\n"},
		{"column past the end", Finding{Code: "c", Severity: Note, File: "p.yaml", Line: 1, Column: 99, Message: "m"},
			"p.yaml:1:99: note: m (c)\n    1 | steps:\n      |       ^\n"},
		{"escape sequences", Finding{Code: "c", Severity: Note, File: "p.yaml", Line: 3, Message: "m"},
			"p.yaml:3: note: m (c)\n    3 | \uFFFD[31m\n"},
		{"line past the end", Finding{Code: "c", Severity: Note, File: "p.yaml", Line: 9, Message: "m"}, "p.yaml:9: note: m (c)\n"},
		{"a long line", Finding{Code: "c", Severity: Note, File: "long.yaml", Line: 1, Column: 5001, Message: "m"},
			"long.yaml:1:5001: note: m (c)\n    1 | …" + strings.Repeat("a", 100) + "X" + strings.Repeat("b", 99) + "…\n      | " + strings.Repeat(" ", 101) + "^\n"},
		{"the end of a long line", Finding{Code: "c", Severity: Note, File: "long.yaml", Line: 1, Column: 10001, Message: "m"},
			"long.yaml:1:10001: note: m (c)\n    1 | …" + strings.Repeat("b", 100) + "\n      | " + strings.Repeat(" ", 101) + "^\n"},
		{"no source", Finding{Code: "c", Severity: Warning, File: "q.yaml", Line: 1, Message: "m"}, "q.yaml:1: warning: m (c)\n"},
		{"path in a file", Finding{Code: "c", Severity: Error, File: "q.yaml", Path: "a.b", Message: "m"}, "q.yaml: a.b: error: m (c)\n"},
		{"file only", Finding{Code: "c", Severity: Error, File: "q.yaml", Message: "m"}, "q.yaml: error: m (c)\n"},
		{"path only", Finding{Code: "c", Severity: Error, Path: "a.b", Message: "m"}, "a.b: error: m (c)\n"},
		{"nothing", Finding{Code: "c", Severity: Error, Message: "m", Fix: "one\ntwo"}, "error: m (c)\n    fix: one\n         two\n"},
	}
	for _, test := range tests {
		if got := Of(test.in).Text(sources); got != test.want {
			t.Errorf("%s: got\n%q\nwant\n%q", test.name, got, test.want)
		}
	}
}
