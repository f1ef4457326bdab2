package expression

import (
	"slices"

	"github.com/berthdev/berth/internal/finding"
)

// lateKeys are where what is known only when a step starts may be used.
const lateKeys = "run, command, args, env and if"

// names finds what of a text's reads does not exist, or is not known, in a scope.
func names(reads []Read, scope *Scope) []Problem {
	var out []Problem
	for _, read := range reads {
		if problem, bad := scope.check(read); bad {
			out = append(out, problem)
		}
	}
	return out
}

func (s *Scope) check(read Read) (Problem, bool) {
	switch read.Root {
	case "params":
		return s.one(read, slices.Contains(s.Params, read.Name), s.Params, "parameter", "declare it under params")
	case "matrix":
		_, ok := s.Matrix[read.Name]
		return s.one(read, ok, sorted(s.Matrix), "axis", "declare it under matrix")
	case "run":
		return s.fact(read)
	case "steps":
		return s.step(read)
	}
	if s.Status {
		return Problem{}, false
	}
	return s.misplaced(read, "use it in if only")
}

// misplaced is about something that there is, but not here.
func (s *Scope) misplaced(read Read, fix string) (Problem, bool) {
	return problem(finding.ExpressionTooEarly, fix, "%s can't be used in %s", read, s.where()), true
}

func (s *Scope) where() string {
	if s.Where == "" {
		return "this place"
	}
	return s.Where
}

// one checks a name against those that are declared.
func (s *Scope) one(read Read, known bool, all []string, thing, declare string) (Problem, bool) {
	switch {
	case s.Matrix == nil:
		return s.misplaced(read, "use "+s.allowed())
	case known:
		return Problem{}, false
	case len(all) > 0:
		declare += ", or use " + list(all)
	}
	return problem(finding.ExpressionUnknownName, finding.DidYouMean(read.Name, all, declare),
		"%s: there is no %s %s", read, thing, read.Name), true
}

// allowed lists what may be used here, for a fix.
func (s *Scope) allowed() string {
	var out []string
	if s.Matrix != nil {
		out = append(out, "params", "matrix")
	}
	for _, fact := range s.Run {
		out = append(out, "run."+fact)
	}
	if s.Steps != nil {
		out = append(out, "steps")
	}
	return finding.Either(out)
}

func (s *Scope) fact(read Read) (Problem, bool) {
	switch {
	case slices.Contains(s.Run, read.Name):
		return Problem{}, false
	case !slices.Contains(runFacts, read.Name):
		return problem(finding.ExpressionUnknownName, finding.DidYouMean(read.Name, runFacts, "use "+list(runFacts)),
			"%s: a run has no %s", read, read.Name), true
	case read.late() && s.Matrix != nil:
		return s.misplaced(read, "use it in "+lateKeys+" only: it is not known when the run is admitted")
	default:
		return s.misplaced(read, "use "+s.allowed())
	}
}

func (s *Scope) step(read Read) (Problem, bool) {
	step, known := s.Steps[read.Name]
	all := s.AllSteps
	if len(all) == 0 {
		all = sorted(s.Steps)
	}
	switch {
	case s.Steps == nil && s.Matrix == nil:
		return s.misplaced(read, "use "+s.allowed())
	case s.Steps == nil:
		return s.misplaced(read, "use it in "+lateKeys+" only: it is not known when the run is admitted")
	case !known && slices.Contains(s.AllSteps, read.Name):
		return problem(finding.ExpressionUnknownName, "add "+read.Name+" to needs",
			"%s: this step does not need %s, so it may start before", read, read.Name), true
	case !known:
		return problem(finding.ExpressionUnknownName, finding.DidYouMean(read.Name, all, "use "+list(all)),
			"%s: there is no step %s", read, read.Name), true
	case read.Output == "" || !step.Matrix && slices.Contains(step.Outputs, read.Output):
		return Problem{}, false
	case step.Matrix:
		return problem(finding.ExpressionUnknownName, "use steps"+member(read.Name)+".status, or write a file to the workspace",
			"%s: %s has a matrix, and its instances have a status only", read, read.Name), true
	}
	declare := "add " + read.Output + " to the outputs of " + read.Name
	if len(step.Outputs) > 0 {
		declare += ", or use " + list(step.Outputs)
	}
	return problem(finding.ExpressionUnknownName, finding.DidYouMean(read.Output, step.Outputs, declare),
		"%s: %s has no output %s", read, read.Name, read.Output), true
}

// list names alternatives, not all if there are many.
func list(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(slices.Clone(names[:most-1]), sprintf("%d others", len(names)-most+1))
	}
	return finding.Either(names)
}
