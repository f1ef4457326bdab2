package finding

import (
	"fmt"
	"strings"
)

// Text is the findings for a reader: one after the other, each with the line that it points to and
// a caret under the column, where sources has the file's text, and with its fix.
func (l List) Text(sources map[string]string) string {
	var b strings.Builder
	var file string
	var lines []string // of the file; findings are sorted by it
	for _, f := range l.sorted {
		b.WriteString(f.String())
		b.WriteByte('\n')
		if source, ok := sources[f.File]; ok {
			if lines == nil || file != f.File {
				file, lines = f.File, strings.Split(source, "\n")
			}
			b.WriteString(excerpt(lines, f.Line, f.Column))
		}
		if f.Fix != "" {
			b.WriteString("    fix: " + strings.ReplaceAll(f.Fix, "\n", "\n         ") + "\n")
		}
	}
	return b.String()
}

// excerpt is one of the file's lines with its number, and below it a caret under the column. It is
// empty if the file has no such line, as when the file changed since.
func excerpt(lines []string, line, column int) string {
	if line < 1 || line > len(lines) {
		return ""
	}
	text := strings.TrimSuffix(lines[line-1], "\r")
	shown := fmt.Sprintf("%5d | %s\n", line, printable(text))
	if column < 1 {
		return shown
	}
	return shown + "      | " + indent(text, column) + "^\n"
}

// indent is as wide as what comes before the column: tabs stay tabs, since only the terminal knows
// how wide they are.
func indent(text string, column int) string {
	var b strings.Builder
	for _, r := range text {
		if column--; column == 0 {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// printable keeps what a file holds from steering the terminal that it is shown on.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return '\uFFFD'
		}
		return r
	}, text)
}
