package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/plan"
)

// Graph is what is fixed of a run: its steps, and what each of them needs. It may be used by one goroutine
// at a time, since it compiles expressions when they are needed.
type Graph struct {
	plan       *plan.Plan
	index      map[string]int // of steps, by ID
	needs      [][]int
	dependants [][]int
	compiler   *expression.Compiler
}

// NewGraph makes the graph of a plan. The error says which step needs one that the plan does not have, or one
// that comes after it.
func NewGraph(p *plan.Plan) (*Graph, error) {
	g := &Graph{plan: p, index: make(map[string]int, len(p.Steps)), compiler: &expression.Compiler{},
		needs: make([][]int, len(p.Steps)), dependants: make([][]int, len(p.Steps))}
	for i := range p.Steps {
		g.index[p.Steps[i].ID] = i
	}
	for i := range p.Steps {
		for _, need := range p.Steps[i].Needs {
			n, ok := g.index[need]
			if !ok {
				return nil, fmt.Errorf("the plan has no step %s, which %s needs", need, p.Steps[i].ID)
			}
			g.needs[i] = append(g.needs[i], n)
			g.dependants[n] = append(g.dependants[n], i)
		}
	}
	if cycle := g.cycle(); cycle != "" {
		return nil, fmt.Errorf("the step %s needs itself", cycle)
	}
	return g, nil
}

// cycle gives a step that needs itself, "" if there is none.
func (g *Graph) cycle() string {
	left := make([]int, len(g.needs))
	var free []int
	for i := range g.needs {
		if left[i] = len(g.needs[i]); left[i] == 0 {
			free = append(free, i)
		}
	}
	for len(free) > 0 {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, d := range g.dependants[i] {
			if left[d]--; left[d] == 0 {
				free = append(free, d)
			}
		}
	}
	if i := slices.IndexFunc(left, func(n int) bool { return n > 0 }); i >= 0 {
		return g.plan.Steps[i].ID
	}
	return ""
}

// Index gives the place of a step in State.Steps.
func (g *Graph) Index(id string) (int, bool) {
	i, ok := g.index[id]
	return i, ok
}

// Slim is the plan without what only an attempt needs: what a Graph is made of, and what people are shown.
func Slim(p *plan.Plan) *plan.Plan {
	slim := *p
	slim.Steps = make([]plan.Step, len(p.Steps))
	for i, s := range p.Steps {
		s.Work, s.Pod, s.K8sOverlay, s.Resources, s.Secrets, s.ServiceAccount = plan.Work{}, plan.Pod{}, nil, nil, nil, ""
		slim.Steps[i] = s
	}
	return &slim
}

// New is a run that waits to be admitted.
func New(p *plan.Plan, id string, now time.Time) (*State, []Entry) {
	s := &State{ID: id, Status: Queued, CreatedAt: now, Steps: make([]*Step, len(p.Steps))}
	for i := range p.Steps {
		s.Steps[i] = &Step{ID: p.Steps[i].ID, Status: StepPending}
	}
	return s, []Entry{{At: now, Kind: KindRun, Status: string(Queued)}}
}

// Changed gives the steps that differ, in order. The states are of one run.
func Changed(old, now *State) []*Step {
	var all []*Step
	for i, s := range now.Steps {
		if i >= len(old.Steps) || old.Steps[i] != s {
			all = append(all, s)
		}
	}
	return all
}

// named is the expression's view of the steps that a step needs, by their names in the pipeline.
func (g *Graph) named(s *State, i int) map[string]expression.StepValue {
	values := map[string]expression.StepValue{}
	for _, n := range g.needs[i] {
		step, state := &g.plan.Steps[n], s.Steps[n]
		if step.Matrix == nil {
			values[step.Step] = expression.StepValue{Status: string(state.Status), Outputs: state.Outputs}
			continue
		}
		was, seen := values[step.Step]
		if !seen || worse(state.Status, StepStatus(was.Status)) {
			values[step.Step] = expression.StepValue{Status: string(state.Status)}
		}
	}
	return values
}

// worse orders the ends of a matrix step's instances: the step's status is the worst of them.
func worse(a, b StepStatus) bool {
	order := []StepStatus{StepSucceeded, StepSkipped, StepCancelled, StepFailed}
	return slices.Index(order, a) > slices.Index(order, b)
}

// scope is what the expressions of a step may read. They were checked when the file was read.
func (g *Graph) scope(i int, condition bool) *expression.Scope {
	step := &g.plan.Steps[i]
	scope := &expression.Scope{Where: "run, command, args, env and if", Params: []string{}, Matrix: map[string]expression.Type{},
		Run: []string{"id", "pipeline", "environment", "started_at"}, Steps: map[string]expression.Step{}, Status: condition}
	for name := range g.plan.Params { // in any order: it is a set
		scope.Params = append(scope.Params, name)
	}
	for name := range step.Matrix {
		scope.Matrix[name] = expression.Dyn
	}
	for _, n := range g.needs[i] {
		need := &g.plan.Steps[n]
		scope.Steps[need.Step] = expression.Step{Outputs: need.Outputs, Matrix: need.Matrix != nil}
		scope.AllSteps = append(scope.AllSteps, need.Step)
	}
	return scope
}

func (g *Graph) values(s *State, i int) *expression.Values {
	p := g.plan
	return &expression.Values{Params: p.Params, Matrix: p.Steps[i].Matrix, Steps: g.named(s, i),
		Run:     expression.Run{ID: s.ID, Pipeline: p.Pipeline, Environment: p.Environment, StartedAt: s.StartedAt},
		Success: g.succeeded(s, i), Failure: g.failedBefore(s, i)}
}

// succeeded is success(): all that the step needs did, or may have failed.
func (g *Graph) succeeded(s *State, i int) bool {
	return !slices.ContainsFunc(g.needs[i], func(n int) bool { return !g.passed(s, n) })
}

// passed says whether a step has succeeded, or failed and may.
func (g *Graph) passed(s *State, i int) bool {
	status := s.Steps[i].Status
	return status == StepSucceeded || status == StepFailed && g.plan.Steps[i].AllowFailure
}

// spoils says whether a step has failed and may not.
func (g *Graph) spoils(s *State, i int) bool {
	return s.Steps[i].Status == StepFailed && !g.plan.Steps[i].AllowFailure
}

// failedBefore is failure(): something that the step needs, directly or not, failed and may not.
func (g *Graph) failedBefore(s *State, i int) bool {
	seen := map[int]bool{}
	var any func(int) bool
	any = func(i int) bool {
		return slices.ContainsFunc(g.needs[i], func(n int) bool {
			if seen[n] {
				return false
			}
			seen[n] = true
			return g.spoils(s, n) || any(n)
		})
	}
	return any(i)
}

// holds evaluates a step's condition. The error is why that can't be done.
func (g *Graph) holds(s *State, i int) (bool, error) {
	condition := g.plan.Steps[i].If
	values := g.values(s, i)
	if condition == "" {
		return values.Success, nil
	}
	template, problems := g.compiler.Condition(condition, g.scope(i, true))
	if template == nil {
		return false, problemsError(problems)
	}
	return template.Holds(values)
}

type problemsError []expression.Problem

func (p problemsError) Error() string {
	all := make([]string, len(p))
	for i := range p {
		all[i] = p[i].Message
	}
	return strings.Join(all, "; ")
}
