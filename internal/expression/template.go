package expression

import (
	"strings"

	"cel.dev/cel-go/common/types"

	"github.com/berthdev/berth/internal/finding"
)

// Template is a text whose expressions were compiled. It is not written to, and may be used by many
// goroutines.
type Template struct {
	parts []part
	rest  string
	whole bool
}

// part is an expression and the text before it.
type part struct {
	before string
	index  int // which ${{ of the text
	*compiled
}

// Template compiles the expressions of a text; one without any is a template too. It is nil if there
// are problems.
func (c *Compiler) Template(text string, scope *Scope) (*Template, []Problem) {
	chunks, rest, unclosed := split(text)
	t := &Template{rest: rest, whole: len(chunks) == 1 && chunks[0].before == "" && rest == ""}
	var problems []Problem
	for i, chunk := range chunks {
		if unclosed != "" && i == len(chunks)-1 {
			p := problem(finding.ExpressionInvalid, "close it; a text that is to have ${{ in it is written ${{ '${{' }}", "%s", unclosed)
			p.Index = i
			problems = append(problems, p)
			break
		}
		p := part{chunk.before, i, c.compile(chunk.source, scope.Matrix)}
		problems = append(problems, p.problemsIn(scope, t.whole)...)
		t.parts = append(t.parts, p)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return t, nil
}

// problemsIn are all the problems of an expression where it stands.
func (p part) problemsIn(scope *Scope, whole bool) []Problem {
	out := append(names(p.reads, scope), p.problems...)
	if len(out) == 0 && !fits(p.result, whole) {
		what := "can't be printed into a string"
		if whole && p.result.Kind() != types.ListKind && p.result.Kind() != types.MapKind {
			what = "is nothing that a file can hold"
		}
		fix := remedies[p.result.Kind()]
		if fix == "" {
			fix = "yield a string, a number, a bool, a list or a map"
		}
		out = append(out, problem(finding.ExpressionType, fix,
			"%s: %s %s", shown(p.source), article(kindOf(p.result)), what))
	}
	for i := range out {
		out[i].Index = p.index
	}
	return out
}

// kindOf names a type without what is in it.
func kindOf(t *types.Type) string { return string(typeOf(t)) }

// Whole says whether the text is one expression and nothing else, so that the type of its value is kept.
func (t *Template) Whole() bool { return t.whole }

// Type is the type of what Eval yields, which for timestamps is String.
func (t *Template) Type() Type {
	if !t.whole {
		return String
	}
	if kind := typeOf(t.parts[0].result); kind != Timestamp {
		return kind
	}
	return String
}

// Use is something that one of a text's expressions reads.
type Use struct {
	Read
	Index int // which ${{ of the text, from 0
}

// Uses lists what the text's expressions read, in their order.
func (t *Template) Uses() []Use {
	var out []Use
	for _, p := range t.parts {
		for _, read := range p.reads {
			out = append(out, Use{read, p.index})
		}
	}
	return out
}

// Late says whether the text has a value only when its step starts: whether it reads status or
// outputs of steps, run.id or run.started_at.
func (t *Template) Late() bool {
	for _, p := range t.parts {
		for _, read := range p.reads {
			if read.late() {
				return true
			}
		}
	}
	return false
}

// Eval gives the text's value: a string, or for a whole expression a string, int64, float64, bool,
// []any or map[string]any. The error is a *Problem. A text that is Late has no right value before its
// step starts.
func (t *Template) Eval(values *Values) (any, error) {
	if !t.whole {
		return t.Print(values)
	}
	left, cost := budget(MostResult), uint64(0)
	v, err := t.parts[0].eval(values, &cost)
	if err != nil {
		return nil, err
	}
	out, bad := native(v, &left)
	if bad != nil {
		return nil, t.parts[0].failed(bad)
	}
	if !values.Allowance.spend(uint64(MostResult-left) / 16) {
		return nil, t.parts[0].spent()
	}
	return out, nil
}

// Print is Eval where a string is wanted: the value of a whole expression is printed too, and it is an
// error if it is a list or a map.
func (t *Template) Print(values *Values) (string, error) {
	left, cost := budget(MostResult), uint64(0)
	var b strings.Builder
	for _, p := range t.parts {
		v, err := p.eval(values, &cost)
		if err != nil {
			return "", err
		}
		printed, bad := text(v, &left)
		if bad != nil {
			return "", p.failed(bad)
		}
		if !values.Allowance.spend(uint64(len(printed)) / 16) {
			return "", p.spent()
		}
		b.WriteString(p.before)
		b.WriteString(printed)
	}
	b.WriteString(t.rest)
	return b.String(), nil
}
