package pipeline

import (
	"maps"
	"reflect"
	"slices"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

// step is a step with the defaults merged in, and where each of its values was written.
type step struct {
	Step
	path string           // steps[NAME]
	node *source.Node     // the step
	from map[string]Place // by key, for the keys that are there
	env  map[string]Place // by variable
}

// Place is a value with where it was written: in the step, or in the defaults.
type Place struct {
	Node *source.Node // nil if it was written nowhere
	Path string       // steps[build].env.JOBS
}

// Fault is an error at the place.
func (p Place) Fault(code finding.Code, fix, format string, args ...any) finding.Finding {
	return p.Node.Fault(code, p.Path, fix, format, args...)
}

// Found is a finding at the place.
func (p Place) Found(code finding.Code, severity finding.Severity, fix, format string, args ...any) finding.Finding {
	return p.Node.Found(code, severity, p.Path, fix, format, args...)
}

// Below is the value of a key.
func (p Place) Below(key string) Place {
	return Place{p.Node.Field(key), source.Join(p.Path, key)}
}

// Item is an item of a list.
func (p Place) Item(i int) Place {
	item := p.Node.Item(i)
	return Place{item, source.At(p.Path, i, item)}
}

// at is where a key of the step was written, and the step itself if it was not.
func (s *step) at(key string) Place {
	if p, ok := s.from[key]; ok {
		return p
	}
	return Place{s.node, source.Join(s.path, key)}
}

// has says whether the step, or else the defaults, have the key.
func (s *step) has(key string) bool {
	_, ok := s.from[key]
	return ok
}

// resolve merges the defaults into the steps: a step's own key replaces that of the defaults, and env is
// merged by name.
func resolve(p *Pipeline, root *source.Node) []step {
	defaults := root.Field("defaults")
	list := root.Field("steps")
	steps := make([]step, len(p.Steps))
	for i := range p.Steps {
		node := list.Item(i)
		s := step{Step: p.Steps[i], node: node, path: source.At("steps", i, node),
			from: map[string]Place{}, env: map[string]Place{}}
		if node != nil {
			for _, f := range node.Fields {
				s.from[f.Name] = Place{f.Value, source.Join(s.path, f.Name)}
			}
		}
		s.take(&p.Defaults, defaults)
		steps[i] = s
	}
	return steps
}

// take merges the defaults into the step.
func (s *step) take(defaults *Common, node *source.Node) {
	own, common := reflect.ValueOf(&s.Common).Elem(), reflect.ValueOf(defaults).Elem()
	for _, key := range source.Keys(own.Type()) {
		value := node.Field(key.Key)
		if value == nil || s.has(key.Key) {
			continue
		}
		own.FieldByIndex(key.Index).Set(common.FieldByIndex(key.Index))
		s.from[key.Key] = Place{value, source.Join("defaults", key.Key)}
	}
	env := maps.Clone(defaults.Env)
	if env == nil {
		env = map[string]source.Text{}
	}
	place := func(n *source.Node, path string) {
		if n == nil {
			return
		}
		for _, f := range n.Fields {
			s.env[f.Name] = Place{f.Value, source.Join(path, f.Name)}
		}
	}
	maps.Copy(env, s.Env)
	place(node.Field("env"), "defaults.env")
	place(s.node.Field("env"), s.path+".env")
	s.Env = env
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
