package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

const findingsIntroduction = `# Findings

Whatever is wrong with a file, or worth to be said of it, is a finding. All are reported at once:

    FILE:LINE:COLUMN: SEVERITY: MESSAGE (CODE)
        the line, with a mark below
        fix: what to do

An error keeps a file from being used, or a run from being admitted. A warning or a note does not. With
` + "`-o json`" + ` a finding has the fields ` + "`code`, `severity`, `file`, `line`, `column`, `path`, `message` and `fix`" + `.
A code never changes its meaning. The examples are from the tests' transcripts.
`

// findingsReference has every code, with an example where a transcript has one.
func findingsReference() (string, error) {
	examples, err := findExamples()
	if err != nil {
		return "", err
	}
	b := &strings.Builder{}
	b.WriteString(generatedFrom("internal/finding/codes.go and the transcripts in testdata"))
	b.WriteString(findingsIntroduction)
	for _, code := range finding.Codes() {
		b.WriteString("\n## " + string(code) + "\n\n" + capital(code.Title()) + ".\n")
		if e := examples[code]; e != nil {
			b.WriteString("\n```\n" + strings.Join(e, "\n") + "\n```\n")
		}
	}
	return b.String(), nil
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// findExamples looks through the transcripts for the first finding with each code.
func findExamples() (map[finding.Code][]string, error) {
	var files []string
	for _, pattern := range []string{"../pipeline", "../placement", "../placement/*", "../plan", "../source", "."} {
		found, err := filepath.Glob(pattern + "/testdata/*.txt")
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	examples := map[finding.Code][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if code := codeOf(line); code != "" && examples[code] == nil {
				examples[code] = exampleAt(lines[i:])
			}
		}
	}
	return examples, nil
}

// codeOf gives the registered code that a line of a finding ends with.
func codeOf(line string) finding.Code {
	open := strings.LastIndex(line, " (")
	if open < 0 || !strings.HasSuffix(line, ")") || !slices.ContainsFunc([]string{": error: ", ": warning: ", ": note: "}, func(s string) bool { return strings.Contains(line, s) }) {
		return ""
	}
	code := finding.Code(line[open+2 : len(line)-1])
	if code.Title() == "" {
		return ""
	}
	return code
}

// exampleAt is a finding from its first line on, with its source and its fix.
func exampleAt(lines []string) []string {
	end := 1
	for end < len(lines) && strings.HasPrefix(lines[end], "    ") {
		end++
	}
	return lines[:end]
}
