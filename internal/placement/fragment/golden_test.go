package fragment

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata are a tutorial of the rules. Each case begins with "== TITLE" and
// prose. A section "-- LAYER --" is a fragment (baseline, profile or k8s_overlay; "privileged" and
// "expressions" after the layer set the rules), and the section "-- findings --" below it is what
// Read has to say of it, and then Compose, which must not say the same again.
func TestGolden(t *testing.T) {
	seen := map[finding.Code]bool{}
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string { return transcribe(t, text, seen) })
	for _, code := range []finding.Code{finding.FragmentRoot, finding.UnknownField, finding.ReservedField, finding.QuantityInvalid,
		finding.ExpressionMisplaced, finding.ToleratesEverything, finding.NotAString, finding.WrongType, finding.NumberAmbiguous, finding.NumberOutOfRange} {
		if !seen[code] {
			t.Errorf("no transcript shows %s", code)
		}
	}
}

// transcribe gives a transcript again, with what really comes out.
func transcribe(t *testing.T, text string, seen map[finding.Code]bool) string {
	out, sections := transcript.Sections(text)
	for _, section := range sections {
		if section.Name == "findings" {
			continue
		}
		read := findings(t, section.Name, section.Body)
		for _, f := range read.All() {
			seen[f.Code] = true
		}
		out += section.String() + "-- findings --\n" + read.Text(map[string]string{"f.yaml": section.Body})
	}
	return out
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
