package reduce_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/transcript"
)

// The transcripts in testdata are the rules, in the order in which one learns them. "spec" is a pod's spec, of
// a pod in the namespace shop with the labels {app: web, tier: front}; "objects" are whole manifests; "said" is
// what a record says that is not the same in every case.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		out := prose
		var objects string
		for _, s := range sections {
			switch s.Name {
			case "said":
				continue
			case "spec":
				objects = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop, labels: {app: web, tier: front}}\nspec:\n" + indented(s.Body)
			case "objects":
				objects = s.Body
			default:
				t.Fatalf("no such section: %s", s.Name)
			}
			out += s.String()
		}
		v := reduce.Look(known(read(t, "case", objects)), reduce.Options{})
		workloads(t, v) // which holds them to the schema
		return out + "-- said --\n" + said(t, v)
	})
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// said shows what records say, without what follows from the case's frame.
func said(t *testing.T, v *reduce.View) string {
	var b strings.Builder
	for r := range v.EachRecord() {
		if r.WorkloadName != "p" {
			b.WriteString(r.WorkloadKind + " " + r.WorkloadName + ": ")
		}
		r.Pod.Phases = nil
		show(t, &b, struct {
			Image      string              `json:"image,omitempty"`
			Init       string              `json:"init,omitempty"`
			Resources  *observer.Resources `json:"resources,omitempty"`
			Ports      []observer.Port     `json:"ports,omitempty"`
			Pod        observer.Pod        `json:"pod"`
			Incomplete []string            `json:"incomplete,omitempty"`
		}{r.Image, r.Init, r.Resources, r.Ports, r.Pod, r.Incomplete})
	}
	if len(v.PodsExcluded) > 0 {
		b.WriteString("excluded: ")
		show(t, &b, v.PodsExcluded)
	}
	if n := v.PlacementValuesDropped; n > 0 {
		b.WriteString("placement_values_dropped: ")
		show(t, &b, n)
	}
	if n := v.PlacementTermsDropped; n > 0 {
		b.WriteString("placement_terms_dropped: ")
		show(t, &b, n)
	}
	return b.String()
}

// show writes JSON, a key or an item in each line, but with small objects in one.
func show(t *testing.T, b *strings.Builder, v any) {
	data, err := observer.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteString(pretty.String() + "\n")
}
