package placement

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// The transcripts in testdata are a tutorial of the rules. Each case begins with "== TITLE" and
// prose, and has sections that begin with "-- NAME --": "locked" has a path on each line,
// "conflicts" is warn or reject, "result", "origins" and "findings" are what came out, and all
// others are layers, in their order.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for i, text := range strings.SplitAfter("\n"+string(data), "\n== ") {
				text = strings.TrimSuffix(text, "\n== ")
				if i == 0 {
					out.WriteString(strings.TrimPrefix(text, "\n"))
					continue
				}
				out.WriteString("\n== " + transcribe(t, text, seen))
			}
			got := strings.TrimPrefix(out.String(), "\n")
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
	for _, r := range Rules() {
		if !seen[r.String()] {
			t.Errorf("no transcript shows the rule %s", r)
		}
	}
}

// transcribe gives a case again, with what really comes out.
func transcribe(t *testing.T, text string, seen map[string]bool) string {
	sections := strings.Split(text, "\n-- ")
	out := sections[0]
	var layers []Layer
	var governs Governs
	for _, section := range sections[1:] {
		name, body, ok := strings.Cut(section, " --\n")
		if !ok {
			body, name = "", strings.TrimSuffix(section, " --")
		}
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
		out += "\n-- " + name + " --\n" + strings.TrimRight(body, "\n")
	}
	result := Compose(layers, governs)
	for _, o := range result.Origins {
		seen[o.Rule.String()] = true
	}
	return out + "\n-- result --\n" + toYAML(t, result.Fragment) +
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

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
