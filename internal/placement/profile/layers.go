package profile

import (
	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
)

// RunFacts is what the operator's labels and annotations may be made of.
type RunFacts struct {
	Pipeline    string
	Environment string // empty if the run has none
}

// Layers gives the operator's layers for a step that lists the profiles, lowest first, with expressions
// evaluated: the baseline, and one layer for each of ProfilesFor. The baseline is two layers if it has
// resources, which stand apart from its k8s in the file; both are called baseline, and it is their result
// that locks hold. The findings are expressions that failed, all of them errors.
func (f *File) Layers(listed []string, facts RunFacts) ([]placement.Layer, []finding.Finding) {
	values := &expression.Values{Run: expression.Run{Pipeline: facts.Pipeline, Environment: facts.Environment}}
	var layers []placement.Layer
	var findings []finding.Finding
	add := func(kind placement.Kind, name, path string, k8s fragment.Fragment) {
		value, found := f.evaluate(k8s, path, values)
		findings = append(findings, found...)
		layers = append(layers, placement.Layer{Kind: kind, Name: name, Fragment: value, Locate: k8s.Locate})
	}
	if f.Baseline.K8s.Node != nil {
		add(placement.Baseline, "", "baseline.k8s", f.Baseline.K8s)
	}
	if r := f.Baseline.Resources; r != nil {
		layers = append(layers, placement.Layer{Kind: placement.Baseline, Fragment: r.Fragment(), Locate: r.Locate})
	}
	for _, p := range f.ProfilesFor(listed) {
		add(placement.Profile, p.Name, "placement_profiles["+p.Name+"].k8s", p.K8s)
	}
	return layers, findings
}
