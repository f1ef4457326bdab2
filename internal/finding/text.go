package finding

import (
	"fmt"
	"strings"
)

// Text is the findings for a reader: one after the other, each with the line that it points to and
// a caret under the column, where sources has the file's text, and with its fix.
func (l List) Text(sources map[string]string) string {
	var b strings.Builder
	var shown excerpts
	for _, f := range l.sorted {
		b.WriteString(f.String())
		b.WriteByte('\n')
		if source, ok := sources[f.File]; ok {
			b.WriteString(shown.excerpt(f.File, source, f.Line, f.Column))
		}
		if f.Fix != "" {
			b.WriteString("    fix: " + strings.ReplaceAll(f.Fix, "\n", "\n         ") + "\n")
		}
	}
	return b.String()
}

// widest is how much of a line is shown, in characters.
const widest = 200

// excerpts shows lines of files. Findings come sorted, so that it keeps the last file and the last line.
type excerpts struct {
	file  string
	lines []string
	line  int
	runes []rune // of the line
}

// excerpt is a line of a file with its number, and below it a caret under the column; of a long line, what
// is near the column. It is empty if the file has no such line, as when the file changed since.
func (e *excerpts) excerpt(file, source string, line, column int) string {
	if e.lines == nil || e.file != file {
		*e = excerpts{file: file, lines: strings.Split(source, "\n")}
	}
	if line < 1 || line > len(e.lines) {
		return ""
	}
	if e.line != line {
		e.line, e.runes = line, []rune(strings.TrimSuffix(e.lines[line-1], "\r"))
	}
	text, before, after := e.runes, "", ""
	if len(text) > widest {
		from := min(max(0, column-1-widest/2), len(text)-widest/2)
		if from > 0 {
			before = "…"
			column += 1 - from
		}
		if text = text[from:]; len(text) > widest {
			text, after = text[:widest], "…"
		}
	}
	window := before + string(text) + after
	shown := fmt.Sprintf("%5d | %s\n", line, printable(window))
	if column < 1 {
		return shown
	}
	return shown + "      | " + indent(window, column) + "^\n"
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
