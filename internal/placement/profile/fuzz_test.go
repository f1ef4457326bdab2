package profile

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
)

// FuzzLoad holds that no text makes Load panic or hang, that a text gives a File or errors, the same ones
// each time, and that what a File gives can be composed.
func FuzzLoad(f *testing.F) {
	f.Add(readACME(f))
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, text := range strings.Split(string(data), "\n-- operator.yaml --\n")[1:] {
			text, _, _ = strings.Cut(text, "\n-- ")
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, findings := Load("operator.yaml", []byte(text))
		if (file == nil) != findings.HasErrors() {
			t.Fatalf("a file and errors, or neither: %v", findings.All())
		}
		if _, again := Load("operator.yaml", []byte(text)); !reflect.DeepEqual(findings, again) {
			t.Fatalf("other findings: %v, then %v", findings.All(), again.All())
		}
		for _, found := range findings.All() {
			if found.File == "" || found.Line == 0 && found.Code != finding.TooLarge && found.Code != finding.YAMLInvalid {
				t.Fatalf("no position: %v", found)
			}
		}
		if file == nil {
			return
		}
		for _, listed := range append([]string{""}, file.ProfileNames()...) {
			layers, failed := file.Layers(strings.Fields(listed), RunFacts{Pipeline: "release"})
			result := placement.Compose(layers, file.Governs())
			if len(failed) == 0 && result.Findings.HasErrors() {
				t.Fatalf("%q: Load did not say: %v", listed, result.Findings.All())
			}
		}
	})
}
