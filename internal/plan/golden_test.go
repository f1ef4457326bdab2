package plan

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata show the pods that steps come to, all layers together. "-- operator.yaml --" may
// be left out; "-- pods --" is what came out, as the plan has it.
func TestGolden(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		out, sections := transcript.Sections(text)
		given := map[string]string{}
		for _, s := range sections {
			if s.Name != "pods" {
				given[s.Name] = s.Body
				out += s.String()
			}
		}
		p := planned(t, given["operator.yaml"], given["pipeline.yaml"], pipeline.Input{})
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		for _, s := range p.Steps {
			pod := map[string]any(s.Pod.Fragment)
			delete(pod["annotations"].(map[string]any), AnnotationPlacement) // see TestPlacementNote
			if err := e.Encode(map[string]any{s.Name: pod}); err != nil {
				t.Fatal(err)
			}
		}
		return out + "-- pods --\n" + strings.ReplaceAll(b.String(), "---\n", "")
	})
}
