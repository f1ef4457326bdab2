package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/placement"
)

// mostNote is how many bytes the note of a pod's placement may have.
const mostNote = 4 << 10

// placementNote is what the pod says of its own layers: each with the paths that it set, as JSON, from the
// lowest. Builtin and Berth's own layer are left out, as is what was beaten. Where it would get too long,
// "+N" stands for N more paths, and as a layer, for N more layers.
func placementNote(layers []placement.Layer, origins []placement.Origin) string {
	var names []string
	paths := map[string][]string{}
	for _, l := range layers {
		if l.Kind != placement.Builtin && l.Kind != placement.Berth && !slices.Contains(names, l.String()) {
			names = append(names, l.String())
		}
	}
	for _, o := range origins {
		for _, layer := range o.Layers {
			if slices.Contains(names, layer) {
				paths[layer] = append(paths[layer], o.Path.String())
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return len(paths[name]) == 0 })
	for most := 1 << 20; most > 0; most = most * 3 / 4 {
		if note := writeNote(names, paths, most); len(note) <= mostNote {
			return note
		}
	}
	for left := len(names); ; left /= 2 { // so many layers that their names alone are too long
		kept := append(slices.Clone(names[:left]), fmt.Sprintf("+%d", len(names)-left))
		if note := writeNote(kept, paths, 0); len(note) <= mostNote {
			return note
		}
	}
}

// writeNote shows at most so many paths of each layer.
func writeNote(names []string, paths map[string][]string, most int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range names {
		list := append([]string{}, paths[name]...)
		if len(list) > most {
			list = append(slices.Clone(list[:most]), fmt.Sprintf("+%d", len(list)-most))
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(compact(name) + ":" + compact(list))
	}
	b.WriteByte('}')
	return b.String()
}

// compact is JSON without escapes for HTML.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // strings and lists of them
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// withNote adds the note's own origin, in order of paths.
func withNote(origins []placement.Origin, note string) []placement.Origin {
	at := placement.Path{{Name: "annotations"}, {Name: AnnotationPlacement}}
	o := placement.Origin{Path: at, Layers: []string{placement.Berth.String()}, Value: note, Rule: placement.RuleScalar, Replaced: []placement.Replaced{}}
	i := slices.IndexFunc(origins, func(other placement.Origin) bool {
		return other.Path[0].Name > "annotations" || other.Path[0].Name == "annotations" && len(other.Path) > 1 && other.Path[1].Name > AnnotationPlacement
	})
	if i < 0 {
		i = len(origins)
	}
	return slices.Insert(origins, i, o)
}
