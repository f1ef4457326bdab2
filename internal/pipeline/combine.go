package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
)

// MostInstances is how many combinations a matrix may come to.
const MostInstances = 256

// combinations gives those of the matrix, in the order of its axes and values, with what exclude
// removes and include adds, as GitHub Actions has it: exclude comes first; an include adds its keys to
// every combination in which it would not change the value of an axis, and where there is none it is a
// combination of its own. exclude that removes nothing and a matrix that is too large are errors.
func (m *Matrix) combinations(path string) ([]Combination, []finding.Finding) {
	var findings []finding.Finding
	size := 1
	for _, a := range m.Axes {
		if size *= len(a.Values); size > MostInstances {
			return nil, []finding.Finding{tooManyInstances(path)}
		}
	}
	var all []Combination
	if len(m.Axes) > 0 {
		all = []Combination{{}}
	}
	for _, a := range m.Axes {
		var longer []Combination
		for _, c := range all {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(c), Setting{a.Name, v}))
			}
		}
		all = longer
	}
	for i, ex := range m.Exclude {
		before := len(all)
		all = slices.DeleteFunc(all, func(c Combination) bool { return c.agrees(ex) })
		if len(all) == before {
			at := fmt.Sprintf("%s.exclude[%d]", path, i)
			findings = append(findings, m.exclude[i].Fault(finding.MatrixUnused, at,
				"remove it, or write values that the axes have", "%s removes nothing", at))
		}
	}
	original := len(all)
	for _, in := range m.Include {
		added := false
		for i := range original {
			if m.extends(all[i], in) {
				all[i], added = all[i].joined(in), true
			}
		}
		if !added {
			all = append(all, in)
		}
	}
	if len(all) > MostInstances {
		return nil, []finding.Finding{tooManyInstances(path)}
	}
	return all, findings
}

// sound says whether every axis has a value, and there is one: else that has been said.
func (m *Matrix) sound() bool {
	return len(m.Axes) > 0 && !slices.ContainsFunc(m.Axes, func(a Axis) bool { return len(a.Values) == 0 })
}

func tooManyInstances(path string) finding.Finding {
	return finding.Finding{Code: finding.TooLarge, Severity: finding.Error, Path: path,
		Message: fmt.Sprintf("the matrix has more than %d combinations", MostInstances), Fix: "write fewer values, or exclude combinations"}
}

// agrees says whether c has all settings of other.
func (c Combination) agrees(other Combination) bool {
	return !slices.ContainsFunc(other, func(s Setting) bool {
		v, ok := c.Get(s.Axis)
		return !ok || v != s.Value
	})
}

// extends says whether in can be added to c: it changes the value of no axis.
func (m *Matrix) extends(c, in Combination) bool {
	return !slices.ContainsFunc(m.Axes, func(a Axis) bool {
		v, ok := in.Get(a.Name)
		if !ok {
			return false
		}
		have, _ := c.Get(a.Name)
		return have != v
	})
}

// joined is c with the settings of in; those that c has from an include before give way.
func (c Combination) joined(in Combination) Combination {
	all := slices.Clone(c)
	for _, s := range in {
		i := slices.IndexFunc(all, func(have Setting) bool { return have.Axis == s.Axis })
		if i < 0 {
			all = append(all, s)
			continue
		}
		all[i] = s
	}
	return all
}

// Variant is one instance of a step: the combination of the matrix that it is for, and its names. A step
// without a matrix has one, with no combination and the step's own name.
type Variant struct {
	Combination Combination
	Name        string // to people: test (amd64)
	ID          string // in the names of objects, a DNS label: test-amd64
}

const longestID = 63

// variant names an instance. The values of all its settings are in the name.
func variant(step string, c Combination) Variant {
	if len(c) == 0 {
		return Variant{nil, step, step}
	}
	texts := make([]string, len(c))
	id := step
	for i, s := range c {
		texts[i] = fmt.Sprint(s.Value)
		if slug := ident.Slug(texts[i]); slug != "" {
			id += "-" + slug
		}
	}
	name := step + " (" + strings.Join(texts, ", ") + ")"
	return Variant{c, name, ident.Shorten(id, longestID)}
}
