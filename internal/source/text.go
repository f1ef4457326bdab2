package source

import (
	"fmt"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/finding"
)

// unreadable finds what keeps the text from being read at all.
func (p *parser) unreadable(text []byte) (finding.Finding, bool) {
	fault := finding.Finding{Code: finding.YAMLInvalid, Severity: finding.Error, File: p.file}
	if len(text) > MostBytes {
		fault.Code, fault.Message = finding.TooLarge, fmt.Sprintf("the file has more than %d bytes", MostBytes)
		fault.Fix = "split it, or move scripts into files of the repository"
		return fault, true
	}
	line, column, marks := 1, 0, 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		column++
		switch {
		case r == utf8.RuneError && size < 2:
			fault.Message, fault.Fix = fmt.Sprintf("byte 0x%02x is not UTF-8", text[i]), "save the file as UTF-8"
		case r == '\n':
			line, column = line+1, 0
			marks++
		case r == ',' || r == '-' || r == '?' || r == ':':
			marks++
		case r == '\r' && i+1 < len(text) && text[i+1] != '\n':
			fault.Message, fault.Fix = "a carriage return without a line feed after it", "end lines with a line feed"
		case r < ' ' && r != '\t' && r != '\r', r == 0x7f, r >= 0x80 && r < 0xa0, r == '\u2028', r == '\u2029':
			// The last two and U+0085 end lines for some readers of YAML.
			fault.Message, fault.Fix = fmt.Sprintf("a control character (U+%04X)", r), `remove it, or write it as an escape in double quotes`
		}
		if fault.Message != "" {
			fault.Line, fault.Column = line, column
			return fault, true
		}
		i += size
	}
	// Each value needs one of these marks near it, so this bounds the work before any is done.
	if marks > 3*MostValues {
		return tooManyValues(p.file), true
	}
	return finding.Finding{}, false
}

func tooManyValues(file string) finding.Finding {
	return finding.Finding{Code: finding.TooLarge, Severity: finding.Error, File: file,
		Message: fmt.Sprintf("the file has more than %d values, once aliases are written out", MostValues), Fix: "split it"}
}
