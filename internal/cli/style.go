package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// isTerminal says whether a person looks at what is written there.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// colours says whether to write colours: to a terminal, unless the user has said no
// (https://no-color.org).
func colours(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	green  = "\x1b[32m"
	dim    = "\x1b[2m"
	plain  = "\x1b[0m"
)

// mostShown is how many findings a reader is shown.
const mostShown = 200

// printFindings writes findings for a reader, with the lines that they point to.
func printFindings(w io.Writer, findings finding.List, sources map[string]string) {
	more := findings.Len() - mostShown
	if more > 0 {
		findings = finding.Of(findings.All()[:mostShown]...)
	}
	text := findings.Text(sources)
	if more > 0 {
		text += fmt.Sprintf("and %d more; -o json has all of them\n", more)
	}
	if colours(w) {
		text = coloured(text)
	}
	io.WriteString(w, text)
}

// coloured emphasises the severity in the first line of each finding.
func coloured(text string) string {
	marks := strings.NewReplacer(
		": error: ", ": "+bold+red+"error"+plain+": ",
		": warning: ", ": "+bold+yellow+"warning"+plain+": ",
		": note: ", ": "+bold+cyan+"note"+plain+": ")
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") {
			lines[i] = marks.Replace(line)
		}
	}
	return strings.Join(lines, "")
}
