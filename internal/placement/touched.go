package placement

import "strings"

// Touched gives the paths of all that a fragment says something of, each once and in order: of what it
// sets, and of what it removes. An item of a list that has keys is named by its key, and only touched
// itself if nothing in it is: whoever says something of a container's env says nothing of the container.
// A list without keys is one path.
func Touched(fragment map[string]any) []Path {
	t := toucher{}
	t.object(podSpec, fragment)
	return t.all
}

type toucher struct {
	path Path
	all  []Path
}

func (t *toucher) here() {
	t.all = append(t.all, append(Path(nil), t.path...))
}

// object is called with the path to the object, and says whether the object touches anything.
func (t *toucher) object(s *Schema, o map[string]any) {
	said := false
	for _, name := range sortedKeys(o) {
		switch {
		case strings.HasPrefix(name, "$"):
			t.here() // a directive acts on all that is here
			said = true
		case len(t.path) > 0 && t.path[len(t.path)-1].Item && s.isKey(name):
		default:
			t.at(Segment{Name: name}, func() { t.value(s.Field(name), o[name]) })
			said = true
		}
	}
	if !said && len(t.path) > 0 {
		t.here()
	}
}

func (t *toucher) at(s Segment, do func()) {
	t.path = append(t.path, s)
	do()
	t.path = t.path[:len(t.path)-1]
}

func (t *toucher) value(s *Schema, v any) {
	switch v := v.(type) {
	case map[string]any:
		t.object(s, v)
	case []any:
		t.list(s, v)
	default:
		t.here()
	}
}

func (t *toucher) list(s *Schema, list []any) {
	if !s.Keyed() || len(list) == 0 {
		t.here()
		return
	}
	for _, e := range list {
		o, ok := e.(map[string]any)
		if !ok || len(o) == 1 && o["$patch"] != nil {
			t.here()
			continue
		}
		id, missing := s.Identity(o)
		if missing != "" {
			t.here()
			continue
		}
		t.at(Segment{id, true}, func() { t.object(s, o) })
	}
}
