package expression

import (
	"strings"

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
	return finding.Clip(strings.Join(strings.Fields(source), " "), 60)
}
