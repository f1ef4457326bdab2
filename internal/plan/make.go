package plan

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
)

// Outcome is a plan, or why there is none.
type Outcome struct {
	Plan     *Plan          // nil if there are errors
	Header   *Plan          // without steps, for the record of a run that is refused; nil if the file is invalid
	Findings finding.List   // all
	Steps    []finding.List // those that are about one step, for each of the run's
	Refused  bool           // the file is valid, and the operator's rules refuse the run
}

// Make makes the plan of a run of the pipeline.
func Make(file *pipeline.File, operator *profile.File, in pipeline.Input, who govern.Who) Outcome {
	expansion, out := expand(file, in)
	if expansion == nil {
		return out
	}
	var missing []finding.Finding
	for i := range expansion.Steps {
		if s := &expansion.Steps[i]; s.Image == "" {
			f := s.At("image").Fault(finding.KeyMissing, "add image to the step, or to defaults for all steps", "steps[%s] has no image", s.Step)
			missing = append(missing, f)
			out.Steps[i].Add(f)
		}
	}
	out.Findings.Add(missing...)
	return admit(expansion, operator, who, out)
}

// expand makes the steps of a run. They are nil if there are errors, which the outcome has.
func expand(file *pipeline.File, in pipeline.Input) (*pipeline.Expansion, Outcome) {
	expansion, findings := file.Expand(in)
	out := Outcome{Findings: findings}
	if expansion == nil {
		return nil, out
	}
	out.Steps = make([]finding.List, len(expansion.Steps))
	if findings.HasErrors() {
		return nil, out
	}
	return expansion, out
}

// admit adds to an outcome what the operator's rules make of the run: a plan, or what stands against one. What
// they refuse is said also if the run is invalid already.
func admit(expansion *pipeline.Expansion, operator *profile.File, who govern.Who, out Outcome) Outcome {
	m := maker{expansion: expansion, operator: operator}
	invalid := out.Findings.HasErrors()
	p := m.plan()
	steps := make([]govern.Step, len(p.Steps))
	for i := range p.Steps {
		out.Steps[i].Add(m.findings[i]...)
		steps[i] = govern.Step{Instance: &expansion.Steps[i], Fragment: p.Steps[i].Pod.Fragment, Origins: p.Steps[i].Pod.Origins}
		if r := govern.NewRequest(&steps[i], expansion.Environment, operator); r.Needs() {
			p.Steps[i].Permits = r
		}
	}
	run, each := govern.Admit(govern.Run{Expansion: expansion, Steps: steps}, who, operator)
	all := run.All()
	for i := range out.Steps {
		all = append(all, out.Steps[i].All()...)
		out.Steps[i].Join(each[i])
	}
	out.Findings.Add(all...)
	switch {
	case invalid:
	case out.Findings.HasErrors():
		out.Refused, out.Header = true, m.run()
	default:
		p.group()
		out.Plan = p
	}
	return out
}

type maker struct {
	expansion *pipeline.Expansion
	operator  *profile.File
	findings  [][]finding.Finding // of each step
}

func (m *maker) plan() *Plan {
	p := m.run()
	p.Steps = make([]Step, len(m.expansion.Steps))
	m.findings = make([][]finding.Finding, len(p.Steps))
	for i := range p.Steps {
		instance := &m.expansion.Steps[i]
		var composed []finding.Finding
		p.Steps[i], m.findings[i], composed = m.step(p, instance)
		for _, f := range composed {
			m.findings[i] = append(m.findings[i], at(instance, f))
		}
	}
	return p
}

// run is what the plan says of the run as a whole.
func (m *maker) run() *Plan {
	authored := m.expansion.File.Pipeline
	p := &Plan{Version: Version, Pipeline: authored.Name, Description: authored.Description,
		Environment: m.expansion.Environment, Params: m.expansion.Params, OperatorRevision: m.operator.Revision,
		Timeout: Duration(authored.Timeout), MaxActiveSteps: authored.MaxActiveSteps}
	if w := authored.Workspace; w != nil {
		p.Workspace = &Workspace{Size: w.Size, StorageClass: w.StorageClass, AccessMode: string(w.AccessMode)}
		if p.Workspace.AccessMode == "" {
			p.Workspace.AccessMode = "ReadWriteOnce"
		}
	}
	return p
}

// step is a step of the plan, with its pod. written are findings about what is written; composed are those
// about what the layers come to, which do not say yet of which step.
func (m *maker) step(p *Plan, instance *pipeline.Instance) (s Step, written, composed []finding.Finding) {
	w := writer{plan: p, operator: m.operator, step: instance}
	layers, written := w.layers()
	result := placement.Compose(layers, m.operator.Governs())
	composed = append(w.mounts(layers), result.Findings.All()...)
	note := placementNote(layers, result.Origins)
	pod := Pod{Fragment: result.Fragment, Origins: withNote(result.Origins, note)}
	if annotations, ok := pod.Fragment["annotations"].(map[string]any); ok {
		annotations[AnnotationPlacement] = note
	}
	pod.Late = w.standing(pod)
	s = step(instance)
	s.Pod, s.Asks = pod, asks(result.Origins)
	return s, written, composed
}

// at gives a finding of composing a position in the pipeline file, if its layer has none there, and
// says which step it is about.
func at(instance *pipeline.Instance, f finding.Finding) finding.Finding {
	f.Message = "step " + instance.Name + ": " + f.Message
	if f.Line > 0 {
		return f
	}
	place := instance.At("name")
	if f.Code == finding.ProfileConflict || f.Code == finding.PlacementImpossible || f.Code == finding.LockedField {
		place = instance.At("placement_profiles")
	}
	if place.Node != nil {
		f.File, f.Line, f.Column = place.Node.File, place.Node.Line, place.Node.Column
	}
	return f
}

// standing gives the late texts that no later layer has replaced.
func (w *writer) standing(pod Pod) []Late {
	setBy := layersOf(pod.Origins, len(w.late))
	late := slices.DeleteFunc(w.late, func(l Late) bool {
		layers := setBy(l.Path)
		return len(layers) == 0 || layers[len(layers)-1] != l.layer()
	})
	if w.step.Workspace && w.plan.Workspace.AccessMode == "ReadWriteOnce" {
		late = append(late, coLocation(pod.Fragment))
	}
	return late
}

// layersOf gives a way to look up so many paths in the origins.
func layersOf(origins []placement.Origin, paths int) func(placement.Path) []string {
	if paths <= 16 { // an index is not worth its while
		return func(path placement.Path) []string {
			i := slices.IndexFunc(origins, func(o placement.Origin) bool { return slices.Equal(o.Path, path) })
			if i < 0 {
				return nil
			}
			return origins[i].Layers
		}
	}
	index := make(map[string][]string, len(origins))
	for _, o := range origins {
		index[o.Path.String()] = o.Layers
	}
	return func(path placement.Path) []string { return index[path.String()] }
}

// layer is the layer that the text belongs to.
func (l Late) layer() string {
	if l.Own {
		return placement.Berth.String()
	}
	return placement.Step.String()
}

// coLocation is the run's id in the term that keeps the pods of a workspace together. An author may have
// written the very same term, which is then there once.
func coLocation(fragment map[string]any) Late {
	i := slices.IndexFunc(required(fragment), func(term any) bool { return reflect.DeepEqual(term, workspaceTerm()) })
	at := placement.MustPath("affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution")
	at = append(at, placement.Segment{Name: strconv.Itoa(i), Item: true},
		placement.Segment{Name: "labelSelector"}, placement.Segment{Name: "matchLabels"}, placement.Segment{Name: LabelWorkspace})
	return Late{Path: at, Item: -1, Text: RunID, Own: true}
}

func required(fragment map[string]any) []any {
	affinity, _ := fragment["affinity"].(map[string]any)
	pods, _ := affinity["podAffinity"].(map[string]any)
	terms, _ := pods["requiredDuringSchedulingIgnoredDuringExecution"].([]any)
	return terms
}
