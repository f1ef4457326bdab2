package placement

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/transcript"
	"go.yaml.in/yaml/v4"
)

// The transcripts in testdata are a tutorial of the rules. Each case begins with "== TITLE" and
// prose, and has sections that begin with "-- NAME --": "locked" has a path on each line,
// "conflicts" is warn or reject, "result", "origins" and "findings" are what came out, and all
// others are layers, in their order.
func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string { return transcribe(t, text, seen) })
	for _, r := range Rules() {
		if !seen[r.String()] && r != RuleSeen { // which is about what came back from a cluster
			t.Errorf("no transcript shows the rule %s", r)
		}
	}
}

// transcribe gives a case again, with what really comes out.
func transcribe(t *testing.T, text string, seen map[string]bool) string {
	prose, sections := transcript.Sections(text)
	out := prose
	var layers []Layer
	var governs Governs
	for _, section := range sections {
		name, body := section.Name, section.Body
		switch name {
		case "result", "origins", "findings":
			continue
		case "locked":
			for line := range strings.Lines(body) {
				governs.Locked = append(governs.Locked, MustPath(strings.TrimSpace(line)))
			}
		case "conflicts":
			governs.Conflicts = Conflicts(strings.TrimSpace(body))
		default:
			layers = append(layers, layer(t, name, body))
		}
		out += section.String()
	}
	result := Compose(layers, governs)
	for _, o := range result.Origins {
		seen[o.Rule.String()] = true
	}
	return out + "-- result --\n" + toYAML(t, result.Fragment) +
		"-- origins --\n" + table(result.Origins) + "-- findings --\n" + result.Findings.Text(nil)
}

func layer(t testing.TB, name, body string) Layer {
	l := Layer{Fragment: fromYAML(t, body)}
	kind, profile, _ := strings.Cut(name, ":")
	l.Name = profile
	for l.Kind = Builtin; l.Kind.String() != kind; l.Kind++ {
		if l.Kind > Berth {
			t.Fatalf("no such layer: %s", name)
		}
	}
	return l
}

func fromYAML(t testing.TB, text string) map[string]any {
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func toYAML(t testing.TB, v any) string {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// table has a line per origin, and one below it per layer that was beaten.
func table(origins []Origin) string {
	var b strings.Builder
	for _, o := range origins {
		value := shown(o.Value)
		if o.Value == nil {
			value = "(removed)"
		}
		fmt.Fprintf(&b, "%s = %s  <- %s, %s\n", o.Path, value, strings.Join(o.Layers, " + "), o.Rule)
		for _, r := range o.Replaced {
			fmt.Fprintf(&b, "    over %s: %s\n", r.Layer, shown(r.Value))
		}
	}
	return b.String()
}
