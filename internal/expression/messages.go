package expression

import (
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"

	"github.com/berthdev/berth/internal/finding"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func problem(code finding.Code, fix, format string, args ...any) Problem {
	return Problem{Code: code, Message: sprintf(format, args...), Fix: fix}
}

// fault is a problem for which an expression is not checked any further.
func (r *reader) fault(fix, format string, args ...any) {
	r.wrong = append(r.wrong, problem(finding.ExpressionInvalid, fix, format, args...))
}

// plain are the parser's messages that a reader may not understand, and what they mean.
var plain = map[string]string{
	"mismatched input '<EOF>' expecting expression": "it ends where a value is expected",
	"unexpected token after expression":             "it should have ended",
	"unexpected token":                              "a value is expected",
	"unexpected character":                          "a character that means nothing in CEL",
	"invalid argument to has() macro":               "has() takes a name with a dot, as in has(params.NAME)",
}

var mismatched = regexp.MustCompile(`^mismatched input '.*' expecting '(.*)'$`)

// syntax is what the parser says, in one sentence.
func syntax(err *common.Error, source string) Problem {
	message := strings.TrimPrefix(err.Message, "Syntax error: ")
	if strings.HasPrefix(message, "expression recursion limit") || strings.HasPrefix(message, "expression count") {
		return problem(finding.TooLarge, "write it in parts, or compute it in a script",
			"%s: is nested too deeply or too large: %d levels are the most", shown(source), MostNesting)
	}
	if m := mismatched.FindStringSubmatch(message); m != nil {
		message = m[1] + " is expected"
	}
	if p := plain[message]; p != "" {
		message = p
	}
	fix := "write it as CEL has it: values, names, and operators between them"
	near := after(source, err.Location)
	switch {
	case strings.HasPrefix(near, "&") || strings.HasPrefix(near, "|"):
		fix = "write && or ||"
	case strings.HasPrefix(near, "="):
		fix = "write =="
	case strings.HasPrefix(near, "$"):
		fix = "write names as they are: params.NAME"
	case strings.Contains(message, "has()"):
		fix = "write has(params.NAME), or has() of an axis or output"
	case strings.Contains(message, "string literal"):
		fix = "close the string"
	}
	if near != "" {
		message += ", at " + finding.Clip(near, 20)
	}
	return problem(finding.ExpressionInvalid, fix, "%s: %s", shown(source), message)
}

// after is what is in a source from a location on, on the same line.
func after(source string, at common.Location) string {
	lines := strings.Split(source, "\n")
	if at.Line() < 1 || at.Line() > len(lines) {
		return ""
	}
	line := []rune(lines[at.Line()-1])
	if at.Column() < 0 || at.Column() >= len(line) {
		return ""
	}
	return strings.TrimSpace(string(line[at.Column():]))
}

var (
	undeclared = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noOverload = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'$`)
	noRange    = regexp.MustCompile(`^expression of type '(.*)' cannot be range of a comprehension`)
	noFields   = regexp.MustCompile(`^type '(.*)' does not support field selection$`)
)

// mistyped is what the checker says, in one sentence. Its names of types are those of CEL.
func mistyped(err *common.Error, tree *ast.AST) Problem {
	if m := undeclared.FindStringSubmatch(err.Message); m != nil {
		return unknown(m[1], isCall(tree, err.ExprID))
	}
	if m := noOverload.FindStringSubmatch(err.Message); m != nil {
		return overload(m[1], m[2])
	}
	if m := noRange.FindStringSubmatch(err.Message); m != nil {
		return problem(finding.ExpressionType, "call it on a list or a map", "there is nothing to go through in %s", article(m[1]))
	}
	if m := noFields.FindStringSubmatch(err.Message); m != nil {
		return problem(finding.ExpressionType, "leave out what is after it", "there is nothing with a name in %s", article(m[1]))
	}
	return problem(finding.ExpressionType, "give it values of the types that it takes", "%s", strings.ReplaceAll(err.Message, "'", ""))
}

// elsewhere are names that other systems have, and what to write instead.
var elsewhere = map[string]string{
	"inputs": "write params.NAME", "parameters": "write params.NAME", "param": "write params.NAME", "vars": "write params.NAME",
	"needs": "write steps.NAME.outputs.OUTPUT", "jobs": "write steps.NAME.outputs.OUTPUT", "tasks": "write steps.NAME.outputs.OUTPUT",
	"github": "write run.pipeline, run.id, run.environment or run.started_at", "workflow": "write run.pipeline or run.id",
	"context": "write run.pipeline or run.id", "environment": "write run.environment", "strategy": "write matrix.AXIS",
	"env":       "use the variable in the script: $NAME",
	"secrets":   "Berth reads no secret: name it under secrets, and use the variable in the script",
	"cancelled": "write failure() or always(): a cancelled run starts no more steps",
	"toJSON":    "print the values one by one", "fromJSON": "give the values one by one",
	"contains": "write TEXT.contains(PART)", "startsWith": "write TEXT.startsWith(PREFIX)", "endsWith": "write TEXT.endsWith(SUFFIX)",
	"format": `write "TEXT %s".format([VALUE])`, "join": "write LIST.join(SEPARATOR)",
}

// unknown is about a name that stands for nothing.
func unknown(name string, function bool) Problem {
	known, otherwise := roots, "use "+finding.Either(roots)
	what := "%s is not known"
	if function {
		known, otherwise, what = theEnvironment().functions, "use the functions of CEL and of its strings library", "there is no function %s"
	}
	if fix := elsewhere[name]; fix != "" {
		return problem(finding.ExpressionUnknownName, fix, what, name)
	}
	return problem(finding.ExpressionUnknownName, finding.DidYouMean(name, known, otherwise), what, name)
}

// isCall says whether the expression with an id is the call of a function.
func isCall(tree *ast.AST, id int64) bool {
	found := false
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.ID() == id && e.Kind() == ast.CallKind
	}))
	return found
}
