package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:generate go test . -run TestReference -reference

var updateReference = flag.Bool("reference", false, "write docs/reference anew")

const referenceFolder = "../../docs/reference"

// reference makes every file of docs/reference from the code.
func reference() (map[string]string, error) {
	findings, err := findingsReference()
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"pipeline.md": pipelineReference(),
		"operator.md": operatorReference(),
		"cli.md":      cliReference(),
		"findings.md": findings,
		"reasons.md":  reasonsReference(),
	}
	for _, s := range schemas {
		var out, complaints bytes.Buffer
		if code := Main([]string{"schema", s.name}, &out, &complaints); code != exitOK {
			return nil, fmt.Errorf("berth schema %s: %s", s.name, complaints.String())
		}
		files[s.name+".schema.json"] = out.String()
	}
	return files, nil
}

// The files say what the code says, and there are no others.
func TestReference(t *testing.T) {
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		file := filepath.Join(referenceFolder, name)
		have, err := os.ReadFile(file)
		switch {
		case err == nil && string(have) == text:
		case !*updateReference:
			t.Errorf("docs/reference/%s is not what the code says: make generate", name)
		default:
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(referenceFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, known := want[e.Name()]; !known {
			t.Errorf("docs/reference/%s is made from nothing: remove it", e.Name())
		}
	}
}

// generatedFrom says where a page comes from.
func generatedFrom(what string) string {
	return "<!-- Made from " + what + " by `make generate`. -->\n"
}

// writeTable writes a table of Markdown. Cells have no line breaks.
func writeTable(b *strings.Builder, header []string, rows [][]string) {
	rule := slices.Repeat([]string{"---"}, len(header))
	for _, row := range append([][]string{header, rule}, rows...) {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
}
