package podspec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/plan"
)

// Facts is what is known of an attempt once it is made.
type Facts struct {
	Namespace string
	Instance  string // of the store
	Run       string // ULID
	Attempt   int    // from 1
	Fence     int64
	Late      []string // what the plan's late texts came to, in the order of Authored
	Preview   bool     // nothing starts: late texts of the author's stay as they were written, and Late is not looked at
}

// Authored gives the late texts of the step that are the author's: whoever starts an attempt evaluates
// them, in this order.
func Authored(s *plan.Step) []plan.Late {
	var all []plan.Late
	for _, l := range s.Pod.Late {
		if !l.Own {
			all = append(all, l)
		}
	}
	return all
}

// Pod is the pod of an attempt, untyped, with integers as int64. The error says which place of the pod the
// plan lists and the pod lacks: then the plan was not made by package plan.
func Pod(s *plan.Step, facts Facts) (map[string]any, error) {
	spec := placement.Clone(map[string]any(s.Pod.Fragment)).(map[string]any)
	own := strings.NewReplacer(
		plan.RunID, facts.Run, plan.RunName, strings.ToLower(facts.Run), plan.Instance, facts.Instance,
		plan.AttemptText, strconv.Itoa(facts.Attempt), plan.FenceText, strconv.FormatInt(facts.Fence, 10))
	late := facts.Late
	for _, l := range s.Pod.Late {
		text := own.Replace(l.Text)
		switch {
		case l.Own:
		case facts.Preview:
			continue
		default:
			if len(late) == 0 {
				return nil, fmt.Errorf("podspec: %s is not known yet", l.Path)
			}
			text, late = plan.Literal(late[0]), late[1:]
		}
		if !put(spec, l.Path, l.Item, text) {
			return nil, fmt.Errorf("podspec: there is no %s in the pod of step %s", l.Path, s.ID)
		}
	}
	metadata := map[string]any{"name": ident.PodName(s.ID, facts.Run, facts.Attempt)}
	if facts.Namespace != "" {
		metadata["namespace"] = facts.Namespace
	}
	for _, name := range []string{"labels", "annotations"} {
		if v, ok := spec[name]; ok {
			metadata[name] = v
			delete(spec, name)
		}
	}
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, nil
}

// put sets a string that is there.
func put(v any, at placement.Path, item int, text string) bool {
	for i, s := range at {
		last := i == len(at)-1 && item < 0
		switch {
		case s.Item:
			list, _ := v.([]any)
			v = find(list, s.Name)
		case last:
			m, _ := v.(map[string]any)
			if _, ok := m[s.Name].(string); !ok {
				return false
			}
			m[s.Name] = text
			return true
		default:
			m, _ := v.(map[string]any)
			v = m[s.Name]
		}
	}
	list, _ := v.([]any)
	if item < 0 || item >= len(list) {
		return false
	}
	list[item] = text
	return true
}

// find gives the item of a list by its name, or by its number if items have none.
func find(list []any, name string) any {
	for _, e := range list {
		if m, ok := e.(map[string]any); ok && m["name"] == name {
			return m
		}
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return nil
}
