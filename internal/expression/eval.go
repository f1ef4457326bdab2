package expression

import (
	"errors"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/berthdev/berth/internal/finding"
)

// eval evaluates one expression. The cost adds up over a text, and is bounded as a whole.
func (p part) eval(values *Values, cost *uint64) (ref.Val, error) {
	if !values.Allowance.spend(1) {
		return nil, p.spent()
	}
	v, details, err := p.program.Eval(&activation{values: values, reads: p.reads})
	if err != nil {
		return nil, p.failed(err)
	}
	if actual := details.ActualCost(); actual != nil {
		*cost += *actual
		if !values.Allowance.spend(*actual) {
			return nil, p.spent()
		}
	}
	if *cost > MostCost {
		return nil, p.failed(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded})
	}
	return v, nil
}

// spent is the error of an evaluation for which nothing was left.
func (p part) spent() *Problem {
	out := problem(finding.TooLarge, "compute it in a script", "%s: the expressions of the run together take more than the %d units of work that they may", shown(p.source), MostOfAll)
	out.Index = p.index
	return &out
}

var noKey = regexp.MustCompile(`^no such key: (.*)$`)

// failed is the error of an evaluation.
func (p part) failed(err error) *Problem {
	message, fix := err.Error(), ""
	var cancelled interpreter.EvalCancelledError
	switch m := noKey.FindStringSubmatch(message); {
	case errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded:
		message, fix = sprintf("takes more than the %d units of work that a text may take", MostCost), "compute it in a script"
	case errors.As(err, &cancelled):
		message, fix = sprintf("has a value that is too large: %d MiB, or %d items, are the most", MostResult>>20, mostParts), "compute it in a script"
	case m != nil && p.readsAxis(m[1]):
		message = "this instance of the step has no axis " + m[1]
		fix = sprintf("ask first: has(matrix%[1]s) ? matrix%[1]s : ''", member(m[1]))
	case strings.HasPrefix(message, "no such overload"):
		message = "a function or operator does not take the values that it got"
	}
	out := problem(finding.ExpressionFailed, fix, "%s: %s", shown(p.source), message)
	out.Index = p.index
	return &out
}

func (p part) readsAxis(name string) bool {
	for _, read := range p.reads {
		if read.Root == "matrix" && read.Name == name {
			return true
		}
	}
	return false
}

// activation gives an expression what it reads, and no more.
type activation struct {
	values *Values
	reads  []Read
}

func (a *activation) Parent() cel.Activation { return nil }

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case successVar:
		return a.values.Success, true
	case failureVar:
		return a.values.Failure, true
	}
	if name == givenVar {
		return a.given(), true
	}
	if strings.HasPrefix(name, matrixVar) {
		name = matrixVar
	}
	out, found := map[string]any{}, false
	for _, read := range a.reads {
		holder, key := variable(read)
		if holder != name {
			continue
		}
		found = true
		if value, ok := a.values.of(read); ok || value != nil {
			out[key] = value
		}
	}
	return out, found
}

// given is what has() finds.
func (a *activation) given() map[string]bool {
	out := map[string]bool{}
	for _, read := range a.reads {
		if _, ok := a.values.of(read); ok {
			out[read.String()] = true
		}
	}
	return out
}

// of gives what is read, and whether it is there. What is not there is "", or nil where that has a type
// of its own.
func (v *Values) of(read Read) (any, bool) {
	switch read.Root {
	case "params":
		value, ok := v.Params[read.Name]
		return value, ok
	case "matrix":
		value, ok := v.Matrix[read.Name]
		return value, ok
	case "run":
		return v.Run.fact(read.Name)
	}
	step := v.Steps[read.Name]
	if read.Output == "" {
		return step.Status, step.Status != ""
	}
	value, ok := step.Outputs[read.Output]
	return value, ok
}

func (r Run) fact(name string) (any, bool) {
	switch name {
	case "id":
		return r.ID, r.ID != ""
	case "pipeline":
		return r.Pipeline, r.Pipeline != ""
	case "environment":
		return r.Environment, r.Environment != ""
	}
	return r.StartedAt, !r.StartedAt.IsZero()
}
