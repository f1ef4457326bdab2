package pipeline

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// use says what a text of a step is for, which decides what its expressions may read.
type use int

const (
	early     use = iota // part of the pod's placement or names: known when the run is admitted
	late                 // what the step works with: known when the step starts
	script               // late, and read by a shell
	condition            // the step's if
)

// text is a string of a step in which expressions may be.
type text struct {
	Place
	use use
	any bool // what it yields need not be a string
}

// texts gives the texts of a step, those that are strings.
func (s *step) texts() []text {
	var all []text
	add := func(p Place, u use, any bool) {
		if p.Node != nil && p.Node.Kind == source.String {
			all = append(all, text{p, u, any})
		}
	}
	list := func(p Place, u use) {
		if p.Node != nil {
			for i := range p.Node.Items {
				add(p.Item(i), u, u == late)
			}
		}
	}
	env := func(p Place) {
		if p.Node != nil {
			for _, f := range p.Node.Fields {
				add(p.Below(f.Name), late, true)
			}
		}
	}
	for _, key := range []string{"image", "working_dir", "service_account", "pool"} {
		add(s.from[key], early, false)
	}
	list(s.from["shell"], early)
	list(s.from["placement_profiles"], early)
	add(s.from["run"], script, true)
	list(s.from["command"], late)
	list(s.from["args"], late)
	add(s.from["if"], condition, true)
	for _, name := range sortedKeys(s.env) {
		add(s.env[name], late, true)
	}
	if at := s.from["secrets"]; at.Node != nil {
		for _, f := range at.Node.Fields {
			add(at.Below(f.Name), early, false)
		}
	}
	deep(s.from["resources"], func(p Place) { add(p, early, true) })
	deep(s.from["k8s_overlay"], func(p Place) { add(p, early, true) })
	if at := s.from["services"]; at.Node != nil {
		for i := range at.Node.Items {
			service := at.Item(i)
			add(service.Below("image"), early, false)
			list(service.Below("command"), late)
			list(service.Below("args"), late)
			env(service.Below("env"))
			deep(service.Below("resources"), func(p Place) { add(p, early, true) })
		}
	}
	return all
}

// deep visits every scalar at and below p.
func deep(p Place, visit func(Place)) {
	if p.Node == nil {
		return
	}
	for i := range p.Node.Items {
		deep(p.Item(i), visit)
	}
	for _, f := range p.Node.Fields {
		deep(p.Below(f.Name), visit)
	}
	if p.Node.Kind != source.List && p.Node.Kind != source.Map {
		visit(p)
	}
}

// scopes are what the texts of a step may read.
type scopes struct {
	early, late, condition *expression.Scope
}

const latePlaces = "run, command, args, env and if"

func (c *checker) scopes(s *step) scopes {
	params := append([]string{}, sortedKeys(c.file.Pipeline.Params)...) // not nil: they may be used where there are none
	axes := map[string]expression.Type{}
	if s.Matrix != nil {
		axes = s.Matrix.types()
	}
	needs := map[string]expression.Step{}
	for _, need := range s.Needs {
		if i, ok := c.index[need]; ok {
			needs[need] = expression.Step{Outputs: c.file.steps[i].Outputs, Matrix: c.file.steps[i].Matrix != nil}
		}
	}
	early := &expression.Scope{Where: "placement, images and names", Params: params, Matrix: axes, Run: []string{"pipeline", "environment"}, AllSteps: c.names}
	late := *early
	late.Where, late.Run, late.Steps = latePlaces, []string{"id", "pipeline", "environment", "started_at"}, needs
	condition := late
	condition.Where, condition.Status = "if", true
	return scopes{early, &late, &condition}
}

func (s scopes) of(u use) *expression.Scope {
	switch u {
	case early:
		return s.early
	case condition:
		return s.condition
	default:
		return s.late
	}
}

// types gives the type of each axis: dyn for one with values of several types, or that only some
// combinations have.
func (m *Matrix) types() map[string]expression.Type {
	types := map[string]expression.Type{}
	add := func(name string, v any) {
		t := typeOf(v)
		if have, ok := types[name]; ok && have != t {
			t = expression.Dyn
		}
		types[name] = t
	}
	for _, a := range m.Axes {
		for _, v := range a.Values {
			add(a.Name, v)
		}
	}
	for _, c := range slices.Concat(m.Include, m.Exclude) {
		for _, s := range c {
			add(s.Axis, s.Value)
		}
	}
	return types
}

func typeOf(v any) expression.Type {
	switch v.(type) {
	case string:
		return expression.String
	case bool:
		return expression.Bool
	default:
		return expression.Int
	}
}

// expressions compiles the texts of all steps, and refuses expressions where none is looked for.
func (c *checker) expressions() {
	f := c.file
	f.compiler = &expression.Compiler{}
	f.scopes = make([]scopes, len(f.steps))
	looked := map[*source.Node]bool{}
	defaults := step{from: map[string]Place{}, env: map[string]Place{}}
	defaults.take(&f.Pipeline.Defaults, f.root.Field("defaults"))
	for _, t := range defaults.texts() {
		looked[t.Node] = true
	}
	for i := range f.steps {
		s := &f.steps[i]
		f.scopes[i] = c.scopes(s)
		for _, t := range s.texts() {
			looked[t.Node] = true
			if t.use == condition || expression.Has(t.Node.Text) {
				c.compile(t, f.scopes[i].of(t.use))
			}
		}
		c.overlay(s)
	}
	c.misplaced(Place{f.root, ""}, looked)
}

// overlay reads the step's fragment as far as it is known. Where there is an expression it is read
// again when that is evaluated.
func (c *checker) overlay(s *step) {
	if at := s.from["k8s_overlay"]; at.Node != nil {
		_, findings := fragment.Read(at.Node, fragment.Rules{Layer: placement.Overlay, Path: at.Path, Expressions: true, Privileged: c.file.options.Privileged})
		c.findings = append(c.findings, findings.All()...)
	}
}

func (c *checker) compile(t text, scope *expression.Scope) {
	if t.use == condition {
		_, problems := c.file.compiler.Condition(t.Node.Text, scope)
		c.problems(t, problems)
		return
	}
	template, problems := c.file.compiler.Template(t.Node.Text, scope)
	c.problems(t, problems)
	if template == nil {
		return
	}
	if kind := template.Type(); !t.any && kind != expression.String && kind != expression.Dyn && kind != expression.Timestamp {
		c.findings = append(c.findings, t.finding(finding.NotAString, finding.Error, 0, "write string(...) around it",
			"%s yields a value of type %s, and must be a string", t.Path, kind))
	}
	if t.use == script {
		c.inScript(t, template)
	}
}

func (c *checker) problems(t text, problems []expression.Problem) {
	for _, p := range problems {
		c.findings = append(c.findings, t.problem(p))
	}
}

// problem is a problem of an expression at its place in the file.
func (t text) problem(p expression.Problem) finding.Finding {
	return t.finding(p.Code, finding.Error, p.Index, p.Fix, "%s", p.Message)
}

func (t text) finding(code finding.Code, severity finding.Severity, index int, fix, format string, args ...any) finding.Finding {
	f := t.Node.Found(code, severity, t.Path, fix, format, args...)
	if expression.Has(t.Node.Text) {
		f.Line, f.Column = t.Node.Occurrence(expression.Opening, index)
	}
	return f
}

// inScript notes values that a shell reads as a part of the script: what is in them may be syntax to it.
func (c *checker) inScript(t text, template *expression.Template) {
	for _, read := range template.Uses() {
		if read.Root != "params" && read.Output == "" {
			continue
		}
		name := strings.ToUpper(read.Name)
		if read.Output != "" {
			name = strings.ToUpper(read.Output)
		}
		name = strings.ReplaceAll(name, "-", "_")
		c.findings = append(c.findings, t.finding(finding.ValueInScript, finding.Note, read.Index,
			`write env: {`+name+`: "${{ `+read.Read.String()+` }}"} and "$`+name+`" in the script`,
			"the shell reads %s as a part of the script, with whatever syntax is in it", read.Read))
	}
}

// misplaced refuses expressions that nobody would evaluate.
func (c *checker) misplaced(at Place, looked map[*source.Node]bool) {
	deep(at, func(p Place) {
		if p.Node.Kind == source.String && expression.Has(p.Node.Text) && !looked[p.Node] {
			c.findings = append(c.findings, text{Place: p}.finding(finding.ExpressionMisplaced, finding.Error, 0,
				"write the value itself", "%s takes no expressions", p.Path))
		}
	})
}
