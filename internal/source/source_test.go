package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata have texts, and what was read of each: a line per value, with its position, and
// then the findings.
func TestGolden(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(_ *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		n, findings := Parse("f.yaml", []byte(sections[0].Body))
		return prose + sections[0].String() + "-- read --\n" + dump(n, "") + findings.Text(map[string]string{"f.yaml": sections[0].Body})
	})
}

func TestParseBounds(t *testing.T) {
	tests := []struct {
		name string
		text string
		code finding.Code
		want string
	}{
		{"bytes", strings.Repeat("# long\n", MostBytes/7+1), finding.TooLarge, "more than 1048576 bytes"},
		{"flow depth", strings.Repeat("[", MostDepth+10), finding.TooLarge, "deeper than 64"},
		{"block depth", strings.Repeat("- ", MostDepth+10) + "x", finding.TooLarge, "deeper than 64"},
		{"values", "[" + strings.Repeat("1,", MostValues) + "]", finding.TooLarge, "more than 100000 values"},
		{"laughs", laughs(), finding.TooLarge, "once aliases are written out"},
		{"alias depth", aliasDepth(), finding.TooLarge, "deeper than 64, once aliases"},
	}
	for _, test := range tests {
		_, findings := Parse("f.yaml", []byte(test.text))
		all := findings.All()
		if len(all) == 0 || all[0].Code != test.code || !strings.Contains(all[0].Message, test.want) {
			t.Errorf("%s: %v", test.name, all)
		}
	}
}

// laughs is a small text that is large once its aliases are written out.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [" + strings.Repeat("x,", 9) + "]\n")
	for i := 1; i < 9; i++ {
		last := string(rune('0' + i - 1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat("*a"+last+",", 9) + "]\n")
	}
	return b.String()
}

// aliasDepth nests each anchor in the next.
func aliasDepth() string {
	var b strings.Builder
	b.WriteString("a00: &a00 [x]\n")
	for i := 1; i < 80; i++ {
		n, last := itoa(i), itoa(i-1)
		b.WriteString("a" + n + ": &a" + n + " [*a" + last + "]\n")
	}
	return b.String()
}

func itoa(i int) string { return string([]rune{rune('0' + i/10), rune('0' + i%10)}) }

func TestOccurrence(t *testing.T) {
	text := "a: \"ö${{x}} ${{y}}\"\nb: |\n  one\n  two ${{z}}\n   ${{w}}\nc: ${{v}}\n"
	n, findings := Parse("f.yaml", []byte(text))
	if findings.Len() > 0 {
		t.Fatal(findings.Text(nil))
	}
	for _, test := range []struct {
		key          string
		i            int
		line, column int
	}{{"a", 0, 1, 6}, {"a", 1, 1, 13}, {"b", 0, 4, 7}, {"b", 1, 5, 4}, {"c", 0, 6, 4}, {"c", 9, 6, 4}} {
		if line, column := n.Field(test.key).Occurrence("${{", test.i); line != test.line || column != test.column {
			t.Errorf("%s %d: %d:%d, want %d:%d", test.key, test.i, line, column, test.line, test.column)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a: 1\n", "a: &a [*a]\n", "- {a: b, c: 'd'}\n- |\n  x\n", "a:\n\tb\n", "a: !!int x\n", "? [a]\n: b\n", "%YAML 1.2\n---\na\n...\nb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, findings := Parse("f", []byte(text))
		if n == nil && !findings.HasErrors() {
			t.Fatal("neither a value nor an error")
		}
		n.Any()
		for _, found := range findings.All() {
			if found.Line > strings.Count(text, "\n")+2 {
				t.Fatalf("line %d of %q", found.Line, text)
			}
		}
		_ = findings.Text(map[string]string{"f": text})
	})
}

func dump(n *Node, indent string) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	switch n.Kind {
	case Map:
		for _, f := range n.Fields {
			fmt.Fprintf(&b, "%s%d:%d %s:\n%s", indent, f.Key.Line, f.Key.Column, f.Name, dump(f.Value, indent+"  "))
		}
	case List:
		for _, item := range n.Items {
			fmt.Fprintf(&b, "%s-\n%s", indent, dump(item, indent+"  "))
		}
	default:
		fmt.Fprintf(&b, "%s%d:%d %s %#v\n", indent, n.Line, n.Column, n.Kind, n.Value)
	}
	return b.String()
}
