package expression

import (
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/types"

	"github.com/berthdev/berth/internal/finding"
)

// Compiler compiles the expressions of one file, each text once. The zero Compiler is ready; it is
// used by one goroutine at a time. What it returns may be used by any.
type Compiler struct {
	compiled map[string]*entry // by source
	count    int
	bytes    int
}

// entry is what is known of a source: one result for each set of types that its axes have had.
type entry struct {
	axes    []string
	results map[string]*compiled
}

// compiled is an expression that was read. It is not written to.
type compiled struct {
	source   string
	reads    []Read
	loops    int
	problems []Problem // without Index
	program  cel.Program
	result   *types.Type
}

// compile reads an expression, or takes what is known of it.
func (c *Compiler) compile(source string, axes map[string]Type) *compiled {
	source = strings.TrimSpace(source)
	if problem, bad := unreadable(source); bad {
		return &compiled{source: source, problems: []Problem{problem}}
	}
	known := c.compiled[source]
	if known != nil {
		if result := known.results[signature(known.axes, axes)]; result != nil {
			return result
		}
	}
	if c.count >= MostDistinct || c.bytes+len(source) > MostBytes {
		return &compiled{source: source, problems: []Problem{problem(finding.TooLarge, "move what differs into a matrix or a parameter",
			"the file has too many different expressions: %d, or %d KiB together, are the most", MostDistinct, MostBytes>>10)}}
	}
	c.count++
	result := compile(source, axes)
	c.bytes += len(source) + result.loops*bytesPerLoop
	if known == nil {
		known = &entry{axes: axesOf(result.reads), results: map[string]*compiled{}}
		if c.compiled == nil {
			c.compiled = map[string]*entry{}
		}
		c.compiled[source] = known
	}
	known.results[signature(known.axes, axes)] = result
	return result
}

// unreadable finds what keeps an expression from being parsed at all.
func unreadable(source string) (Problem, bool) {
	switch {
	case source == "":
		return problem(finding.ExpressionInvalid, "write an expression, as in ${{ params.NAME }}", "the expression is empty"), true
	case len(source) > MostLength:
		return problem(finding.TooLarge, "compute it in a script",
			"the expression has %d bytes, and %d are the most", len(source), MostLength), true
	case !utf8.ValidString(source):
		return problem(finding.ExpressionInvalid, "write it in UTF-8", "%s: is not UTF-8", shown(source)), true
	}
	return Problem{}, false
}

// axesOf are the axes whose types matter to what was read.
func axesOf(reads []Read) []string {
	var names []string
	for _, r := range reads {
		if r.Root == "matrix" {
			names = append(names, r.Name)
		}
	}
	return names
}

func signature(names []string, axes map[string]Type) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(string(axes[name]))
		b.WriteByte(' ')
	}
	return b.String()
}

// compile parses, replaces names, checks types and plans.
func compile(source string, axes map[string]Type) *compiled {
	e := theEnvironment()
	out := &compiled{source: source}
	text := common.NewTextSource(source)
	tree, errors := e.parser.Parse(text)
	if list := errors.GetErrors(); len(list) > 0 {
		out.problems = []Problem{syntax(list[0], source)}
		return out
	}
	r := reader{axes: axes}
	r.expr(tree.Expr())
	out.reads, out.loops = distinct(r.reads), r.loops
	if out.problems = distinct(r.wrong); len(out.problems) > 0 {
		out.explain()
		return out
	}
	checked, errors := checker.Check(tree, text, e.checker)
	for _, err := range errors.GetErrors() {
		out.problems = append(out.problems, mistyped(err, checked))
	}
	if out.problems = distinct(out.problems); len(out.problems) > 0 {
		out.explain()
		return out
	}
	out.result = checked.GetType(checked.Expr().ID())
	program, err := e.env.PlanProgram(checked, bounded()...)
	if err != nil { // a constant that can't be: a pattern that is no regular expression
		out.problems = []Problem{problem(finding.ExpressionInvalid, "correct the constant in it", "%s", err.Error())}
		out.explain()
	}
	out.program = program
	return out
}

// explain puts the expression before each message that does not begin with it.
func (c *compiled) explain() {
	for i, p := range c.problems {
		if source := shown(c.source); !strings.HasPrefix(p.Message, source+" ") {
			c.problems[i].Message = source + ": " + p.Message
		}
	}
}

func distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	var out []T
	for _, v := range list {
		if !seen[v] {
			out = append(out, v)
		}
		seen[v] = true
	}
	return out
}
