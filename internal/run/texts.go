package run

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
)

// Texts evaluates the late texts of a step that is about to start, each once, and gives what they came to by
// text. spec is the whole step, of which the graph has the slim one. The outcome is why that can't be done.
func (g *Graph) Texts(s *State, spec *plan.Step) (map[string]string, *Outcome) {
	i, ok := g.index[spec.ID]
	if !ok {
		return nil, &Outcome{Class: Failure, Reason: reason.ExpressionFailed, Final: true, Message: "the run has no step " + spec.ID}
	}
	out := map[string]string{}
	values := g.values(s, i)
	for _, text := range lateTexts(spec) {
		if _, twice := out[text]; twice {
			continue
		}
		template, problems := g.compiler.Template(text, g.scope(i, false))
		var err error
		if template == nil {
			err = problemsError(problems)
		} else {
			out[text], err = template.Print(values)
		}
		if err != nil {
			return nil, &Outcome{Class: Failure, Reason: reason.ExpressionFailed, Final: true, Message: err.Error()}
		}
	}
	return out, nil
}

// lateTexts are all texts that are known now: of the pod, and of the work for executors without pods.
func lateTexts(s *plan.Step) []string {
	var all []string
	add := func(texts ...plan.Text) {
		for _, t := range texts {
			if t.Late {
				all = append(all, t.Text)
			}
		}
	}
	env := func(m map[string]plan.Text) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			add(m[name])
		}
	}
	add(s.Work.Command...)
	add(s.Work.Args...)
	env(s.Work.Env)
	for _, service := range s.Work.Services {
		add(service.Command...)
		add(service.Args...)
		env(service.Env)
	}
	for _, l := range s.Pod.Late {
		if !l.Own {
			all = append(all, l.Text)
		}
	}
	return all
}
