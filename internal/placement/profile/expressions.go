package profile

import (
	"errors"
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// evaluatedKeys are the keys of a fragment in whose values the operator may write expressions.
var evaluatedKeys = []string{"labels", "annotations"}

// scope is what those expressions may read.
var scope = expression.Scope{Where: "labels and annotations of the operator file", Run: []string{"pipeline", "environment"}}

// expressions compiles those in a fragment. Elsewhere in it they were refused when it was read.
func (l *loader) expressions(n *source.Node, path string) {
	for _, key := range evaluatedKeys {
		values := n.Field(key)
		if values == nil {
			continue
		}
		for _, f := range values.Fields {
			if f.Value.Kind == source.String && expression.Has(f.Value.Text) {
				l.expression(f.Value, source.Join(path, placement.Path{{Name: key}, {Name: f.Name}}.String()))
			}
		}
	}
}

func (l *loader) expression(n *source.Node, path string) {
	template, problems := l.compiler.Template(n.Text, &scope)
	for _, p := range problems {
		f := n.Fault(p.Code, path, p.Fix, "%s", p.Message)
		f.Line, f.Column = n.Occurrence(expression.Opening, p.Index)
		l.add(f)
	}
	if template == nil {
		return
	}
	if t := template.Type(); t != expression.String && t != expression.Dyn {
		l.add(n.Fault(finding.ExpressionType, path, "write ${{ string(...) }}", "%s is a string, and the expression yields %s", path, t))
		return
	}
	if l.file.templates == nil {
		l.file.templates = map[string]*expression.Template{}
	}
	l.file.templates[n.Text] = template
}

// evaluate gives a fragment's value with its expressions evaluated.
func (f *File) evaluate(fragment fragment.Fragment, path string, values *expression.Values) (map[string]any, []finding.Finding) {
	result := fragment.Value
	var findings []finding.Finding
	for _, key := range evaluatedKeys {
		written, _ := fragment.Value[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(written)) {
			text, _ := written[name].(string)
			template := f.templates[text]
			if template == nil {
				continue
			}
			at := placement.Path{{Name: key}, {Name: name}}
			v, bad := stringOf(template, values)
			if bad != nil {
				found := finding.Finding{Code: bad.Code, Severity: finding.Error, Path: source.Join(path, at.String()), Message: bad.Message, Fix: bad.Fix}
				found.File, found.Line, found.Column = fragment.Locate(at)
				findings = append(findings, found)
				continue
			}
			result = with(result, key, name, v)
		}
	}
	return result, findings
}

func stringOf(template *expression.Template, values *expression.Values) (string, *expression.Problem) {
	v, err := template.Eval(values)
	if err != nil {
		problem := &expression.Problem{Code: finding.ExpressionFailed, Message: err.Error()}
		errors.As(err, &problem)
		return "", problem
	}
	s, ok := v.(string)
	if !ok {
		return "", &expression.Problem{Code: finding.ExpressionType, Message: "the expression yields no string", Fix: "write ${{ string(...) }}"}
	}
	return s, nil
}

// with is the fragment with another value for one label or annotation.
func with(fragment map[string]any, key, name, value string) map[string]any {
	fragment = maps.Clone(fragment)
	labels := maps.Clone(fragment[key].(map[string]any))
	labels[name] = value
	fragment[key] = labels
	return fragment
}
