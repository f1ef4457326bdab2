// Package transcript holds tests to files that people read: cases, each with its input and what came of it.
//
// A file begins with prose. Each case begins with "== TITLE" and more prose, and has sections that begin with
// "-- NAME --". go test -update writes the files anew, with what really comes out.
package transcript

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write transcripts anew, with what comes out")

// Test holds the files that match the pattern to what again gives for each of their cases: the case once
// more, with what really comes out. It gets the case from its title on.
func Test(t *testing.T, pattern string, again func(t *testing.T, text string) string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, text := range strings.Split("\n"+string(data), "\n== ") {
				if i == 0 {
					got = text
					continue
				}
				got += "\n== " + again(t, text)
			}
			got = strings.TrimPrefix(got, "\n")
			switch {
			case got == string(data):
			case *update:
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("not as it says (-update writes it anew):\n%s", difference(string(data), got))
			}
		})
	}
}

// Section is a part of a case.
type Section struct {
	Name string
	Body string // ends with a newline, unless it is empty
}

// Sections gives a case's prose, from its title on, and its sections in their order.
func Sections(text string) (prose string, sections []Section) {
	parts := strings.Split(strings.TrimRight(text, "\n"), "\n-- ")
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(part, "\n")
		if body = strings.TrimRight(body, "\n"); body != "" {
			body += "\n"
		}
		sections = append(sections, Section{strings.TrimSuffix(name, " --"), body})
	}
	return strings.TrimRight(parts[0], "\n") + "\n", sections
}

// String is the section as it stands in a file.
func (s Section) String() string { return "-- " + s.Name + " --\n" + s.Body }

// difference shows the lines from the first one on that differs.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1, strings.Join(g[i:min(len(g), i+8)], "\n"), w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// File holds a whole file to what comes out. go test -update writes it anew.
func File(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	switch {
	case err == nil && string(want) == got:
	case *update:
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		t.Errorf("%s: not as it says (-update writes it anew):\n%s", file, difference(string(want), got))
	}
}
