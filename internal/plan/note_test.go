package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
)

// TestPlacementNote reads the annotation that says where a pod's values come from.
func TestPlacementNote(t *testing.T) {
	operator := "version: 1\nbaseline: {k8s: {nodeSelector: {a: x}}}\nplacement_profiles: [{name: p, default: true, k8s: {nodeSelector: {b: y}}}]\n" + prod
	text := func(labels int) string {
		var b strings.Builder
		b.WriteString("version: 1\nname: p\nenvironment: prod\nsteps: [{name: s, image: i, run: x, k8s_overlay: {labels: {")
		for i := range labels {
			fmt.Fprintf(&b, "a-label-with-a-name-that-is-rather-long-%d: x, ", i)
		}
		return b.String() + "}}}]\n"
	}
	note := func(labels int) (map[string][]string, string) {
		p := planned(t, operator, text(labels), pipeline.Input{})
		written := p.Steps[0].Pod.Fragment["annotations"].(map[string]any)[AnnotationPlacement].(string)
		var read map[string][]string
		if err := json.Unmarshal([]byte(written), &read); err != nil {
			t.Fatal(err)
		}
		if o := origin(t, &p.Steps[0], `annotations."berth.dev/placement"`); o.Value != written || o.Layers[0] != "berth" {
			t.Errorf("its own origin is %v", o)
		}
		return read, written
	}
	read, written := note(1)
	if fmt.Sprint(read["baseline"], read["profile:p"], read["k8s_overlay"]) != "[nodeSelector.a] [nodeSelector.b] [labels.a-label-with-a-name-that-is-rather-long-0]" {
		t.Error(written)
	}
	if strings.Contains(written, "restartPolicy") || strings.Contains(written, "berth.dev") {
		t.Errorf("Berth's own are in it: %s", written)
	}
	read, written = note(150)
	list := read["k8s_overlay"]
	if len(written) > mostNote || !strings.HasPrefix(list[len(list)-1], "+") || len(read["baseline"]) != 1 {
		t.Errorf("%d bytes: %s", len(written), written)
	}
	var more int
	if fmt.Sscanf(list[len(list)-1], "+%d", &more); len(list)-1+more != 150 {
		t.Errorf("%d paths and %d more", len(list)-1, more)
	}

	var many strings.Builder
	many.WriteString("version: 1\nplacement_profiles:\n")
	var listed []string
	for i := range 100 {
		name := fmt.Sprintf("a-profile-with-a-name-that-is-as-long-as-it-may-be-%d", i)
		fmt.Fprintf(&many, "  - {name: %s, k8s: {nodeSelector: {l%d: x}}}\n", name, i)
		listed = append(listed, name)
	}
	p := planned(t, many.String(), "version: 1\nname: p\nsteps: [{name: s, image: i, run: x, placement_profiles: ["+strings.Join(listed, ", ")+"]}]\n", pipeline.Input{})
	written = p.Steps[0].Pod.Fragment["annotations"].(map[string]any)[AnnotationPlacement].(string)
	if len(written) > mostNote || json.Unmarshal([]byte(written), &read) != nil {
		t.Errorf("%d bytes for many layers: %s", len(written), written)
	}
}
