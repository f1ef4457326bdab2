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

// author gives what stands in the pod for a text of the author's. One that is late stands there as it was
// written until it is evaluated.
func (w *writer) author(v pipeline.Value, item int, container, list string, fields ...string) string {
	if !v.Late {
		return Literal(v.Text)
	}
	at := placement.Path{{Name: list}, {Name: container, Item: true}}
	for _, f := range fields {
		name, isItem := strings.CutPrefix(f, "[")
		at = append(at, placement.Segment{Name: name, Item: isItem})
	}
	w.late = append(w.late, Late{Path: at, Item: item, Text: v.Text})
	return v.Text
}

func (w *writer) list(all []pipeline.Value, container, list, field string) []any {
	out := make([]any, len(all))
	for i, v := range all {
		out[i] = w.author(v, i, container, list, field)
	}
	return out
}

func (w *writer) env(all map[string]pipeline.Value, container, list string) []any {
	var env []any
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, object{"name": name, "value": w.author(all[name], -1, container, list, "env", "["+name, "value")})
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
	at := placement.Path{{Name: "containers"}, {Name: StepContainer, Item: true}, {Name: "env"}, {Name: name, Item: true}, {Name: "value"}}
	return object{"name": name, "value": w.ownAt(at, text)}
}
