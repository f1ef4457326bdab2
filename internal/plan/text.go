package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
)

// Literal is text in a command, args or env of a pod that means itself: the kubelet expands $(NAME) there,
// and takes $$ for $.
func Literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func texts(all []string) []any {
	list := make([]any, len(all))
	for i, text := range all {
		list[i] = Literal(text)
	}
	return list
}

// in is the path of a field of a container, which is in one of the pod's lists of containers.
func in(list, container string, fields ...placement.Segment) placement.Path {
	return append(placement.Path{{Name: list}, {Name: container, Item: true}}, fields...)
}

// variable is the path of a variable's value.
func variable(list, container, name string) placement.Path {
	return in(list, container, placement.Segment{Name: "env"}, placement.Segment{Name: name, Item: true}, placement.Segment{Name: "value"})
}

// author gives what stands in the pod, at a path or in an item of the list there, for a text of the author's.
// One that is late stands there as it was written until it is evaluated, and is added to those.
func (w *writer) author(v pipeline.Value, at placement.Path, item int) string {
	if !v.Late {
		return Literal(v.Text)
	}
	w.late = append(w.late, Late{Path: at, Item: item, Text: v.Text})
	return v.Text
}

func (w *writer) list(all []pipeline.Value, at placement.Path) []any {
	out := make([]any, len(all))
	for i, v := range all {
		out[i] = w.author(v, at, i)
	}
	return out
}

func (w *writer) env(all map[string]pipeline.Value, container, list string) []any {
	var env []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, object{"name": name, "value": w.author(all[name], variable(list, container, name), -1)})
	}
	return env
}

// own gives what stands in a map of the pod for a text of Berth's.
func (w *writer) own(field, key, text string) string {
	return w.ownAt(placement.Path{{Name: field}, {Name: key}}, text)
}

func (w *writer) ownAt(at placement.Path, text string) string {
	w.late = append(w.late, Late{Path: at, Item: -1, Text: text, Own: true})
	return text
}

func (w *writer) ownEnv(name, text string) object {
	return object{"name": name, "value": w.ownAt(variable("containers", StepContainer, name), text)}
}
