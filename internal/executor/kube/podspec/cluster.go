package podspec

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/placement"
)

// ClusterLayer is the layer of what a cluster added to a pod, or changed in it.
const ClusterLayer = "cluster"

// sentLayer stands for all of Berth's layers, where the cluster beat them.
const sentLayer = "berth"

// Cluster compares the API server's answer with what was sent: origins of what the cluster changed and of
// what it added to the spec, the labels and the annotations, and what it did not store at all.
func Cluster(sent, answer map[string]any) (origins []placement.Origin, lost []Difference) {
	for _, d := range Dropped(sent, answer) {
		if d.Missing {
			lost = append(lost, d)
			continue
		}
		origins = append(origins, placement.Origin{Path: inFragment(d.Path), Layers: []string{ClusterLayer}, Value: d.Stored,
			Replaced: []placement.Replaced{{Layer: sentLayer, Value: d.Sent}}})
	}
	return append(origins, Added(sent, answer)...), lost
}

// Added gives, with the paths of a fragment, what the answer has in the pod's spec, labels and annotations beyond what was sent: defaults,
// and what admission put there. What is new as a whole is one origin.
func Added(sent, answer map[string]any) []placement.Origin {
	var a addition
	for _, name := range []string{"annotations", "labels"} {
		a.within(placement.Segment{Name: "metadata"}, func() {
			a.field(nil, name, child(sent, "metadata")[name], child(answer, "metadata")[name])
		})
	}
	a.field(placement.PodSpec(), "spec", sent["spec"], answer["spec"])
	return a.all
}

// inFragment is a path of a pod as fragments and their origins have it: without spec and metadata.
func inFragment(p placement.Path) placement.Path { return p[1:] }

func child(object map[string]any, name string) map[string]any {
	m, _ := object[name].(map[string]any)
	return m
}

// addition walks through an answer, beside what was sent.
type addition struct {
	path placement.Path
	all  []placement.Origin
}

func (a *addition) within(s placement.Segment, do func()) {
	a.path = append(a.path, s)
	do()
	a.path = a.path[:len(a.path)-1]
}

func (a *addition) field(s *placement.Schema, name string, sent, stored any) {
	a.within(placement.Segment{Name: name}, func() { a.value(s, sent, stored) })
}

func (a *addition) value(s *placement.Schema, sent, stored any) {
	switch stored := stored.(type) {
	case nil:
	case map[string]any:
		if m, ok := sent.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(stored)) {
				a.field(s.Field(name), name, m[name], stored[name])
			}
			return
		}
		a.add(sent, stored)
	case []any:
		if list, ok := sent.([]any); ok {
			a.list(s, list, stored)
			return
		}
		a.add(sent, stored)
	default:
		a.add(sent, stored)
	}
}

// add notes a value that was not sent. One that was sent otherwise is a Difference.
func (a *addition) add(sent, stored any) {
	if sent == nil {
		a.all = append(a.all, placement.Origin{Path: inFragment(slices.Clone(a.path)), Layers: []string{ClusterLayer}, Value: stored})
	}
}

func (a *addition) list(s *placement.Schema, sent, stored []any) {
	partners(s, stored, sent, func(id string, item, found any) {
		a.within(placement.Segment{Name: id, Item: true}, func() { a.value(s, found, item) })
	})
}
