package govern

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/placement/profile"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// The transcripts in testdata show who may have what. Each case begins with "== TITLE" and prose, and has the
// sections "-- operator.yaml --", without which the one of the case before it holds, "-- pipeline.yaml --",
// "-- who --", without which an operator asks, and "-- findings --".
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, cases, _ := strings.Cut("\n"+string(data), "\n== ")
			got, operator := head, (*profile.File)(nil)
			for text := range strings.SplitSeq(cases, "\n== ") {
				text, operator = transcribe(t, text, operator)
				got += "\n== " + text
			}
			got = strings.TrimPrefix(got, "\n")
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
}

// transcribe gives a case again, with what really comes out, and the operator file that holds by then.
func transcribe(t *testing.T, text string, operator *profile.File) (string, *profile.File) {
	text, _, _ = strings.Cut(strings.TrimRight(text, "\n"), "\n-- findings --")
	text = strings.TrimRight(text, "\n") + "\n"
	if s, ok := section(text, "operator.yaml"); ok {
		operator = load(t, s)
	}
	who, environment := Who{Operator: true}, ""
	if s, ok := section(text, "who"); ok {
		who, environment = asks(t, s)
	}
	written, _ := section(text, "pipeline.yaml")
	findings, _ := Admit(compile(t, operator, written, environment), who, operator)
	return text + "-- findings --\n" + findings.Text(map[string]string{"pipeline.yaml": written}), operator
}

func section(text, name string) (string, bool) {
	_, rest, ok := strings.Cut(text, "\n-- "+name+" --\n")
	body, _, _ := strings.Cut(rest, "\n-- ")
	return strings.TrimRight(body, "\n") + "\n", ok
}

// asks reads who asks: words, or KEY=VALUE.
func asks(t *testing.T, text string) (who Who, environment string) {
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "embedded":
			who.Embedded = true
		case "operator":
			who.Operator = true
		case "identity":
			who.Identity = value
		case "pipeline":
			who.Pipeline = value
		case "--environment":
			environment = value
		case "nobody":
		default:
			t.Fatalf("who is %q?", word)
		}
	}
	return who, environment
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
