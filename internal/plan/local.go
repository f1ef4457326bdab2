package plan

import (
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
)

// MakeLocal makes the plan of a run whose steps are processes of this machine. Images and placement have no
// effect there, so none need be named; what only a cluster has (k8s_overlay, secrets, service accounts) is
// refused as invalid. Without an operator file, names of profiles, pools and environments are taken as they
// are: naming a profile does not tie a pipeline to a cluster. With one, its rules hold as they do for a pod.
func MakeLocal(file *pipeline.File, operator *profile.File, in pipeline.Input, who govern.Who) Outcome {
	expansion, out := expand(file, in)
	if expansion == nil {
		return out
	}
	out.Findings.Add(onlyInClusters(expansion)...)
	if out.Findings.HasErrors() {
		return out
	}
	if operator.Name != "" {
		judged := admit(expansion, operator, who, Outcome{Findings: out.Findings, Steps: slices.Clone(out.Steps)})
		if judged.Refused {
			return judged
		}
	}
	m := maker{expansion: bare(expansion), operator: profile.Empty()}
	p := m.plan()
	p.OperatorRevision = operator.Revision
	for i := range p.Steps {
		p.Steps[i].PlacementProfiles = slices.Clone(expansion.Steps[i].PlacementProfiles)
		if operator.Name != "" {
			p.Steps[i].Pool = expansion.Steps[i].Pool
		}
		p.Steps[i].Pod, p.Steps[i].Asks = Pod{}, nil
	}
	if p.Workspace != nil {
		p.Workspace.AccessMode = "ReadWriteMany" // one machine: nothing keeps steps apart
	}
	out.Findings.Add(finding.Finding{Code: finding.LocalIgnores, Severity: finding.Note, File: file.Name,
		Message: "on this machine placement profiles, resources and images have no effect", Fix: "use --executor kubernetes where they have"})
	out.Plan = p
	return out
}

// bare is the run as it is without a cluster: all that needs an operator's name for it is taken away.
func bare(e *pipeline.Expansion) *pipeline.Expansion {
	c := *e
	c.Steps = slices.Clone(e.Steps)
	for i := range c.Steps {
		c.Steps[i].PlacementProfiles, c.Steps[i].Pool = nil, ""
	}
	return &c
}

// onlyInClusters finds what only a cluster can give.
func onlyInClusters(e *pipeline.Expansion) []finding.Finding {
	var found []finding.Finding
	for i := range e.Steps {
		s := &e.Steps[i]
		for _, only := range []struct {
			key  string
			used bool
		}{{"k8s_overlay", s.Overlay.Node != nil}, {"secrets", len(s.Secrets) > 0}, {"service_account", s.ServiceAccount != ""}} {
			if only.used {
				found = append(found, s.At(only.key).Fault(finding.LocalUnsupported, "run it with --executor kubernetes, or leave it out",
					"steps[%s].%s is something that only a cluster has", s.Step, only.key))
			}
		}
		for n, service := range s.Services {
			if len(service.Command) == 0 {
				found = append(found, s.At("services").Item(n).Fault(finding.LocalUnsupported, "add command, or run it with --executor kubernetes",
					"the service %s has no command, and on this machine there is no image to take one from", service.Name))
			}
		}
	}
	return found
}
