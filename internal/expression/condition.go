package expression

import (
	"errors"
	"strings"

	"github.com/berthdev/berth/internal/finding"
)

// Condition compiles an `if`: an expression, bare or as a whole in ${{ }}, that yields a bool. It is a
// template that Holds answers for, nil if there are problems.
func (c *Compiler) Condition(text string, scope *Scope) (*Template, []Problem) {
	source, wrong := bare(text)
	if wrong != nil {
		return nil, []Problem{*wrong}
	}
	p := part{compiled: c.compile(source, scope.Matrix)}
	problems := append(names(p.reads, scope), p.problems...)
	if len(problems) == 0 && typeOf(p.result) != Bool && typeOf(p.result) != Dyn {
		problems = append(problems, problem(finding.ExpressionType, "compare it with something",
			"%s: an if has to be true or false, and this is %s", shown(p.source), article(kindOf(p.result))))
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return &Template{parts: []part{p}, whole: true}, nil
}

// bare takes the braces off an `if` that is in them.
func bare(text string) (string, *Problem) {
	if !Has(text) {
		return text, nil
	}
	chunks, rest, unclosed := split(text)
	out := problem(finding.ExpressionInvalid, "write it without ${{ }}", "an if is one expression, with no text around it")
	switch {
	case unclosed != "":
		out.Message = unclosed
	case len(chunks) == 1 && strings.TrimSpace(chunks[0].before+rest) == "":
		return chunks[0].source, nil
	}
	return "", &out
}

// HandlesFailure says whether a condition calls always() or failure(). All others hold only where
// success() does.
func (t *Template) HandlesFailure() bool {
	for _, p := range t.parts {
		for _, read := range p.reads {
			if read.Root == "" && read.Name != "success" {
				return true
			}
		}
	}
	return false
}

// Holds says whether a step with this condition is to run. The error is a *Problem.
func (t *Template) Holds(values *Values) (bool, error) {
	if !t.HandlesFailure() && !values.Success {
		return false, nil
	}
	yielded, err := t.Eval(values)
	if err != nil {
		return false, err
	}
	holds, ok := yielded.(bool)
	if !ok {
		return false, t.parts[0].failed(errors.New("an if has to be true or false, and this is neither"))
	}
	return holds, nil
}
