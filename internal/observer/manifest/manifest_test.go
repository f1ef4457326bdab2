package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/transcript"
)

// What is read of files, and what is said of them.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		out := prose
		var o Objects
		source := ""
		for _, s := range sections {
			if s.Name == "read" {
				continue
			}
			if err := o.Read(s.Name, strings.NewReader(s.Body)); err != nil {
				t.Fatal(err)
			}
			source = s.Body
			out += s.String()
		}
		out += "-- read --\n"
		for _, p := range o.Pods {
			out += fmt.Sprintf("pod %s/%s\n", p.Namespace, p.Name)
		}
		for _, n := range o.Nodes {
			out += fmt.Sprintf("node %s\n", n.Name)
		}
		for _, m := range o.Metadata {
			out += fmt.Sprintf("metadata of %s %s/%s\n", m.Kind, m.Namespace, m.Name)
		}
		for _, kind := range slices.Sorted(maps.Keys(o.Skipped)) {
			out += fmt.Sprintf("skipped %d %s\n", o.Skipped[kind], kind)
		}
		return out + o.Findings.Text(map[string]string{sections[0].Name: source})
	})
}

// Neither a finding nor an error quotes a value. Each value of a filled pod is given another kind, one after the
// other, so that it can't be read.
func TestFindingsQuoteNoValue(t *testing.T) {
	p := &corev1.Pod{}
	marks := observertest.Fill(p)
	p.Kind, p.APIVersion = "", ""
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	seen, n := 0, 0
	for at := 0; ; n++ {
		i := strings.Index(string(data[at:]), `":`)
		if i < 0 {
			break
		}
		at += i + 2
		before, after := `{"k":`, `}`
		if n%2 == 1 {
			before, after = `["v",`, `]`
		}
		if n%4 > 1 {
			continue // a half of them is enough
		}
		end := valueEnd(data[at:])
		text := `{"apiVersion":"v1","kind":"Pod",` + string(data[1:at]) + before + string(data[at:at+end]) + after + string(data[at+end:])
		var o Objects
		if err := o.Read("file", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if o.Findings.Len() > 0 {
			seen++
		}
		said := o.Findings.Text(nil)
		for _, path := range marks.Found([]byte(said)) {
			if path != "metadata.name" && !strings.HasSuffix(path, "{key}") { // which say where it is
				t.Fatalf("a finding quotes %s: %s", path, said)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d findings", seen)
	}
}

// valueEnd is how long the JSON value is that data begins with.
func valueEnd(data []byte) int {
	var v json.RawMessage
	d := json.NewDecoder(strings.NewReader(string(data)))
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return int(d.InputOffset())
}
