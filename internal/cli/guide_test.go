package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var yamlBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?)```\n")

// Every whole file that a guide shows is right. Parts of files are not looked at.
func TestGuideExamples(t *testing.T) {
	guides, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(block[1], "version: 1\n") {
				continue
			}
			file := filepath.Join(t.TempDir(), "example.yaml")
			if err := os.WriteFile(file, []byte(block[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			var command []string
			switch {
			case strings.Contains(block[1], "\nsteps:"):
				command = []string{"render", file}
			case strings.Contains(block[1], "\nbaseline:"):
				command = []string{"profiles", "--operator", file}
			default:
				command = []string{"check", "--nodes", file, "--operator", "../../examples/acme/operator.yaml"}
			}
			seen[command[0]]++
			// check finds that ACME's profiles do not fit those nodes, which it could only read if they are right.
			if _, stderr, code := berth(command...); code != exitOK && (command[0] != "check" || code != exitFailed) {
				t.Errorf("%s: berth %s: exit code %d, %s of\n%s", guide, command[0], code, stderr, block[1])
			}
		}
	}
	for _, command := range []string{"render", "profiles", "check"} {
		if seen[command] == 0 {
			t.Errorf("no example was tried with berth %s: %v", command, seen)
		}
	}
}
