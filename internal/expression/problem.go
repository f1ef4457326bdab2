package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/berthdev/berth/internal/finding"
)

// Problem is one thing that is wrong with an expression. It is the error of an evaluation as well.
type Problem struct {
	Index        int // which ${{ of the text, from 0
	Code         finding.Code
	Message, Fix string
}

func (p *Problem) Error() string { return p.Message }

// shown is source as messages show it: on one line, and not all of it if it is long.
func shown(source string) string {
	return clip(strings.Join(strings.Fields(source), " "), 60)
}

// clip cuts a text after the given number of characters.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
