package fragment

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// The transcripts in testdata are a tutorial of the rules. Each case begins with "== TITLE" and
// prose. A section "-- LAYER --" is a fragment (baseline, profile or k8s_overlay; "privileged" and
// "expressions" after the layer set the rules), and the section "-- findings --" below it is what
// Read has to say of it, and then Compose, which must not say the same again.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[finding.Code]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := transcribe(t, string(data), seen)
			switch {
			case got == string(data):
			case *update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("not as it says (-update writes it anew):\n%s", firstDifference(string(data), got))
			}
		})
	}
	for _, code := range []finding.Code{finding.FragmentRoot, finding.UnknownField, finding.ReservedField, finding.QuantityInvalid,
		finding.ExpressionMisplaced, finding.ToleratesEverything, finding.NotAString, finding.WrongType, finding.NumberAmbiguous, finding.NumberOutOfRange} {
		if !seen[code] {
			t.Errorf("no transcript shows %s", code)
		}
	}
}

// transcribe gives a transcript again, with what really comes out.
func transcribe(t *testing.T, text string, seen map[finding.Code]bool) string {
	var out strings.Builder
	for i, section := range strings.Split(text, "\n-- ") {
		if i == 0 {
			out.WriteString(section)
			continue
		}
		if rest, ok := strings.CutPrefix(section, "findings --"); ok {
			if _, next, more := strings.Cut(rest, "\n\n== "); more {
				out.WriteString("\n== " + next)
			}
			continue
		}
		head, body, _ := strings.Cut(section, " --\n")
		body += "\n"
		read := findings(t, head, body)
		for _, f := range read.All() {
			seen[f.Code] = true
		}
		out.WriteString("\n-- " + head + " --\n" + body + "-- findings --\n" + read.Text(map[string]string{"f.yaml": body}))
	}
	return out.String()
}

func findings(t testing.TB, head, body string) finding.List {
	words := strings.Fields(head)
	rules := Rules{Layer: kindOf(t, words[0]), Path: "k8s", Privileged: slices.Contains(words, "privileged"), Expressions: slices.Contains(words, "expressions")}
	n, list := source.Parse("f.yaml", []byte(body))
	if n == nil {
		t.Fatalf("not read at all: %s", list.Text(nil))
	}
	f, read := Read(n, rules)
	list.Join(read)
	list.Join(compose(f, rules).Findings)
	return list
}

// compose merges the fragment onto a pod that has a step.
func compose(f Fragment, rules Rules) placement.Result {
	return placement.Compose([]placement.Layer{
		{Kind: placement.Builtin, Fragment: map[string]any{"containers": []any{map[string]any{"name": "step", "image": "i"}}}},
		{Kind: rules.Layer, Name: "p", Fragment: f.Value, Locate: f.Locate},
	}, placement.Governs{})
}

func kindOf(t testing.TB, name string) placement.Kind {
	for k := placement.Builtin; k <= placement.Berth; k++ {
		if k.String() == name || name == "profile" && k == placement.Profile {
			return k
		}
	}
	t.Fatalf("no such layer: %s", name)
	return 0
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "got\n" + strings.Join(g[i:min(len(g), i+8)], "\n") + "\nwant\n" + w[i]
		}
	}
	return "one is longer"
}
