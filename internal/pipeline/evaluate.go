package pipeline

import (
	"errors"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// template is what a text is evaluated by; nil if it is not known yet, because it is late or depends on a
// parameter that is missing.
func (e *expander) template(at Place, scope *expression.Scope) *expression.Template {
	// A file with problems is not expanded, so there are none here.
	template, _ := e.file.compiler.Template(at.Node.Text, scope)
	if template == nil || template.Late() || e.missing(template) {
		return nil
	}
	return template
}

// evaluate gives what a text yields. known is false for one that is not known yet, and for one that can't
// be evaluated, which is then reported.
func (e *expander) evaluate(at Place, scope *expression.Scope) (value any, known bool) {
	if !expression.Has(at.Node.Text) {
		return at.Node.Value, true
	}
	template := e.template(at, scope)
	if template == nil {
		return nil, false
	}
	v, err := template.Eval(&e.values)
	if err != nil {
		e.failed(at, err)
		return nil, false
	}
	return v, true
}

// failed reports the error of an evaluation.
func (e *expander) failed(at Place, err error) {
	var p *expression.Problem
	if !errors.As(err, &p) {
		p = &expression.Problem{Code: finding.ExpressionFailed, Message: err.Error()}
	}
	e.findings = append(e.findings, text{Place: at}.problem(*p))
}

// missing says whether the template reads a parameter that is not known.
func (e *expander) missing(t *expression.Template) bool {
	for _, read := range t.Uses() {
		if read.Root == "params" && e.partial[read.Name] {
			return true
		}
	}
	return false
}

// open says whether a string is not known yet.
func (e *expander) open(at Place) bool { return e.template(at, e.scope.early) == nil }

// string evaluates what has to be a string. It is empty if nothing is written, and as it was written if
// it is not known yet.
func (e *expander) string(at Place) string {
	if at.Node == nil {
		return ""
	}
	v, known := e.evaluate(at, e.scope.early)
	if !known {
		return at.Node.Text
	}
	s, ok := v.(string)
	if !ok {
		e.findings = append(e.findings, text{Place: at}.finding(finding.NotAString, finding.Error, 0, "write string(...) around it",
			"%s yields %v, and must be a string", at.Path, v))
	}
	return s
}

func (e *expander) strings(at Place) []string {
	if at.Node == nil {
		return nil
	}
	all := make([]string, len(at.Node.Items))
	for i := range at.Node.Items {
		all[i] = e.string(at.Item(i))
	}
	return all
}

// known is strings without those that are not known yet: nobody is to look for the names that they have as
// they are written.
func (e *expander) known(at Place) []string {
	if at.Node == nil {
		return nil
	}
	all := []string{}
	for i := range at.Node.Items {
		if !e.open(at.Item(i)) {
			all = append(all, e.string(at.Item(i)))
		}
	}
	return all
}

// value evaluates what the step works with. A value that is no string is printed.
func (e *expander) value(at Place) Value {
	if at.Node.Kind != source.String {
		return Value{Text: at.Node.Text}
	}
	template := e.template(at, e.scope.late)
	if template == nil {
		return Value{Text: at.Node.Text, Late: expression.Has(at.Node.Text)}
	}
	printed, err := template.Print(&e.values)
	if err != nil {
		e.failed(at, err)
	}
	return Value{Text: printed}
}

func (e *expander) list(at Place) []Value {
	if at.Node == nil {
		return nil
	}
	all := make([]Value, len(at.Node.Items))
	for i := range at.Node.Items {
		all[i] = e.value(at.Item(i))
	}
	return all
}

// below evaluates every string at and below a place. open says whether one of them is not known yet.
func (e *expander) below(at Place) (n *source.Node, open bool) {
	paths := map[*source.Node]string{}
	deep(at, func(p Place) { paths[p.Node] = p.Path })
	n = at.Node.Strings(func(n *source.Node) any {
		v, known := e.evaluate(Place{n, paths[n]}, e.scope.early)
		if !known {
			open = true
			return n.Value
		}
		return v
	})
	return n, open
}

func (e *expander) resources(at Place) *fragment.Resources {
	if at.Node == nil {
		return nil
	}
	n, open := e.below(at)
	if open {
		n = settled(n)
	}
	var r fragment.Resources
	decoding := &source.Decoding{}
	r.FromNode(decoding, n, at.Path)
	e.findings = append(e.findings, decoding.Findings().All()...)
	if !open {
		e.literal(Place{n, at.Path})
	}
	return &r
}

// settled puts some quantity in the place of those that are not known yet, so that the others can be judged.
func settled(n *source.Node) *source.Node {
	return n.Strings(func(n *source.Node) any {
		if expression.Has(n.Text) {
			return "1"
		}
		return n.Value
	})
}

// literal refuses quantities that look like expressions once expressions have been evaluated: nobody
// evaluates what they yielded.
func (e *expander) literal(at Place) {
	deep(at, func(p Place) {
		if p.Node.Kind == source.String && expression.Has(p.Node.Text) {
			_, findings := fragment.Quantity(p.Node, "", p.Path)
			e.findings = append(e.findings, findings...)
		}
	})
}

// count is how many values a node is.
func count(n *source.Node) int {
	values := 1
	for _, item := range n.Items {
		values += count(item)
	}
	for _, f := range n.Fields {
		values += count(f.Value)
	}
	return values
}

func (e *expander) overlay(at Place) fragment.Fragment {
	if at.Node == nil {
		return fragment.Fragment{}
	}
	if e.overlays += count(at.Node); e.overlays > mostOverlayValues {
		if e.overlays -= count(at.Node); !e.tooMany {
			e.tooMany = true
			e.findings = append(e.findings, at.Fault(finding.TooLarge, "put what is common to many steps into a placement profile",
				"the k8s_overlay of all steps together have more than %d values", mostOverlayValues))
		}
		return fragment.Fragment{}
	}
	n, open := e.below(at)
	f, findings := fragment.Read(n, fragment.Rules{Layer: placement.Overlay, Path: at.Path, Expressions: open, Privileged: e.file.options.Privileged})
	if !open && !findings.HasErrors() { // what is wrong with it by itself is no matter of the operator's rules
		layer := placement.Layer{Kind: placement.Overlay, Fragment: f.Value, Locate: f.Locate}
		for _, found := range placement.Compose([]placement.Layer{layer}, placement.Governs{}).Findings.All() {
			found.Path = source.Join(at.Path, found.Path)
			if found.Line == 0 {
				found.File, found.Line, found.Column = at.Node.File, at.Node.Line, at.Node.Column
			}
			findings.Add(found)
		}
	}
	e.findings = append(e.findings, findings.All()...)
	if open {
		return fragment.Fragment{} // nothing is known of what it comes to
	}
	return f
}
