package pipeline

import (
	"regexp"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/source"
)

// Bounds of a pipeline.
const (
	MostSteps       = 2000     // of a run, after expansion
	MostScriptBytes = 64 << 10 // of one script
	longestName     = 40       // of a pipeline
	longestDuration = source.Duration(365 * 24 * time.Hour)
	mostRetries     = 10

	mostRunValues     = 200_000 // maps, lists and scalars of all steps of a run, with the defaults in each of them
	mostOverlayValues = 100_000 // of the k8s_overlay of all steps of a run
)

// checker looks for what the types of the file can't say.
type checker struct {
	file     *File
	names    []string       // of all steps, sorted, each once
	index    map[string]int // of the last step with the name
	findings []finding.Finding
}

func (c *checker) fault(at Place, code finding.Code, fix, format string, args ...any) {
	c.findings = append(c.findings, at.Fault(code, fix, format, args...))
}

// name checks a name that is there; that a required one is missing has been said.
func (c *checker) name(at Place, what, text string, err error) {
	if at.Node != nil && at.Node.Kind == source.String && err != nil && !expression.Has(text) {
		fix := ""
		if slug := ident.Slug(text); ident.Label(slug, longestName) == nil && what != "output" && what != "storage class" {
			fix = "write " + slug
		}
		c.fault(at, finding.NameInvalid, fix, "the name of the %s, %q, %v", what, text, err)
	}
}

// positive checks an integer that is there.
func (c *checker) positive(at Place, n int) {
	if at.Node != nil && at.Node.Kind == source.Int && n < 1 {
		c.fault(at, finding.NumberOutOfRange, "write a number from 1 on", "%s is %d", at.Path, n)
	}
}

func (c *checker) all() {
	f := c.file
	p := &f.Pipeline
	top := Place{f.root, ""}
	if v := top.Below("version"); v.Node != nil && v.Node.Kind == source.Int && p.Version != 1 {
		c.fault(v, finding.ValueInvalid, "write version: 1", "version %d is not known: this build reads version 1", p.Version)
	}
	c.name(top.Below("name"), "pipeline", p.Name, ident.Label(p.Name, longestName))
	c.name(top.Below("environment"), "environment", p.Environment, ident.Label(p.Environment, 63))
	c.length(top.Below("timeout"))
	c.positive(top.Below("max_active_steps"), p.MaxActiveSteps)
	c.params(top.Below("params"))
	c.workspace(top.Below("workspace"))
	c.defaultEnv(top.Below("defaults"))
	if c.bulky(len(p.Steps), nil) {
		return
	}
	f.steps = resolve(p, f.root)
	c.index = map[string]int{}
	for i := range f.steps {
		c.index[f.steps[i].Name] = i
	}
	c.names = sortedKeys(c.index)
	if at := top.Below("steps"); at.Node != nil && at.Node.Kind == source.List && len(at.Node.Items) == 0 {
		c.fault(at, finding.ValueInvalid, "add a step", "the pipeline has no steps")
	}
	f.variants = make([][]Variant, len(f.steps))
	seen := map[string]int{}
	for i := range f.steps {
		c.step(&f.steps[i])
		c.references(&f.steps[i])
		c.twice(i, seen)
	}
	c.graph()
	c.instances()
	if c.bulky(0, f.variants) {
		return
	}
	c.expressions()
}

// bulky refuses steps that are too much once the defaults are written out in each of them: so many of them,
// or as many instances as they have variants.
func (c *checker) bulky(steps int, variants [][]Variant) bool {
	list := c.file.root.Field("steps")
	defaults, total := 0, 0
	if n := c.file.root.Field("defaults"); n != nil {
		defaults = count(n)
	}
	for i := range max(steps, len(variants)) {
		instances := 1
		if variants != nil {
			instances = len(variants[i])
		}
		total += instances * defaults
		if n := list.Item(i); n != nil {
			total += instances * count(n)
			if matrix := n.Field("matrix"); matrix != nil {
				total -= (instances - 1) * count(matrix) // which no instance has
			}
		}
	}
	if total > mostRunValues {
		c.fault(Place{list, "steps"}, finding.TooLarge, "split the pipeline, or write less into defaults",
			"the steps of a run have %d values, with the defaults in each of them, and %d are the most", total, mostRunValues)
	}
	return total > mostRunValues
}

// length checks a duration that is there.
func (c *checker) length(at Place) {
	if at.Node == nil || at.Node.Kind != source.String {
		return
	}
	var d source.Duration
	switch err := d.UnmarshalText([]byte(at.Node.Text)); {
	case err != nil: // which has been said
	case d == 0:
		c.fault(at, finding.ValueInvalid, "write a longer one, or leave the key out", "%s is zero", at.Path)
	case d > longestDuration:
		c.fault(at, finding.NumberOutOfRange, "write a shorter one", "%s is longer than a year", at.Path)
	}
}

func (c *checker) params(at Place) {
	if at.Node == nil {
		return
	}
	for _, f := range at.Node.Fields {
		p, here := c.file.Pipeline.Params[f.Name], at.Below(f.Name)
		if err := ident.Variable(f.Name); err != nil {
			c.fault(Place{f.Key, here.Path}, finding.NameInvalid, "", "the name of the parameter, %q, %v", f.Name, err)
		}
		if p.Required && p.Default != nil {
			c.fault(here.Below("default"), finding.ValueInvalid, "keep one of the two", "a required parameter has a default, which is never used")
		}
		re, err := regexp.Compile(p.Pattern)
		switch {
		case err != nil:
			c.fault(here.Below("pattern"), finding.ValueInvalid, "", "the pattern is no regular expression: %v", err)
		case p.Default != nil && !re.MatchString(string(*p.Default)):
			c.fault(here.Below("default"), finding.ValueInvalid, "", "the default %q does not match the pattern %s", string(*p.Default), p.Pattern)
		}
	}
}

func (c *checker) workspace(at Place) {
	w := c.file.Pipeline.Workspace
	if w == nil {
		return
	}
	if size := at.Below("size"); size.Node != nil && size.Node.Kind == source.String {
		q, findings := fragment.Quantity(size.Node, "storage", size.Path)
		c.findings = append(c.findings, findings...)
		if len(findings) == 0 && q.Sign() <= 0 {
			c.fault(size, finding.NumberOutOfRange, "write a size such as 10Gi", "%s is %s", size.Path, w.Size)
		}
	}
	if class := at.Below("storage_class"); class.Node != nil {
		c.name(class, "storage class", w.StorageClass, ident.Subdomain(w.StorageClass))
	}
}

func (c *checker) defaultEnv(at Place) {
	if at.Node != nil {
		c.envNames(at.Below("env"))
	}
}

// envNames checks the names of variables where they are written.
func (c *checker) envNames(at Place) {
	if at.Node == nil {
		return
	}
	for _, f := range at.Node.Fields {
		key := Place{f.Key, source.Join(at.Path, f.Name)}
		if err := ident.Variable(f.Name); err != nil {
			c.fault(key, finding.NameInvalid, "", "the name of the variable, %q, %v", f.Name, err)
		}
		if strings.HasPrefix(f.Name, "BERTH_") {
			c.fault(key, finding.ReservedField, "choose another name", "variables that begin with BERTH_ are Berth's own")
		}
	}
}

// twice reports a second step with a name.
func (c *checker) twice(i int, seen map[string]int) {
	s := &c.file.steps[i]
	if first, ok := seen[s.Name]; ok && s.Name != "" {
		c.fault(s.at("name"), finding.NameTwice, "choose another name", "two steps are called %s: the other is in line %d", s.Name, c.file.steps[first].node.Line)
		return
	}
	seen[s.Name] = i
}

// instances makes the instances of all steps.
func (c *checker) instances() {
	total, owner := 0, map[string]string{}
	for i := range c.file.steps {
		s := &c.file.steps[i]
		combinations := []Combination{nil}
		if s.Matrix != nil {
			var findings []finding.Finding
			at := s.at("matrix")
			combinations, findings = s.Matrix.combinations(at.Path)
			for _, f := range findings {
				if f.Line == 0 {
					f.File, f.Line, f.Column = at.Node.File, at.Node.Line, at.Node.Column
				}
				c.findings = append(c.findings, f)
			}
			if len(combinations) == 0 && len(findings) == 0 && s.Matrix.sound() {
				c.fault(at, finding.ValueInvalid, "exclude less", "no combination of the matrix is left, so that the step would never run")
			}
		}
		if total += len(combinations); total > MostSteps {
			c.fault(s.at("name"), finding.TooLarge, "split the pipeline", "a run would have more than %d steps, with all instances", MostSteps)
			return
		}
		for _, combination := range combinations {
			v := variant(s.Name, combination)
			if other, ok := owner[v.ID]; ok && other != s.Name || ok && s.Matrix != nil {
				c.fault(s.at("name"), finding.NameTwice, "rename a step, or write values of the matrix that differ in more than punctuation",
					"two steps would both be called %s in names of pods: %s is one of them", v.ID, v.Name)
			}
			owner[v.ID] = s.Name
			c.file.variants[i] = append(c.file.variants[i], v)
		}
	}
}
