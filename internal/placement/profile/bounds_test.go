package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

// lines repeats a line with a number in it.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestBounds has a file at each bound, and one beyond it.
func TestBounds(t *testing.T) {
	tests := []struct {
		name  string
		most  int
		write func(n int) string
	}{
		{"profiles", MostProfiles, func(n int) string { return "placement_profiles:\n" + lines(n, "- {name: p%d, k8s: {}}\n") }},
		{"environments", MostEnvironments, func(n int) string { return "environments:\n" + lines(n, "- {name: e%d}\n") }},
		{"pools", MostPools, func(n int) string { return "pools:\n" + lines(n, "- {name: p%d, slots: 1}\n") }},
		{"locks", MostLocks, func(n int) string { return "baseline:\n  locked:\n" + lines(n, "  - labels.l%d\n") }},
		{"paths", MostPaths, func(n int) string {
			return "environments:\n- name: a\n  permits:\n    k8s_overlay: [hostNetwork]\n- name: b\n  permits:\n    k8s_overlay:\n" +
				lines(n-1, "    - labels.l%d\n")
		}},
		{"segments", MostSegments, func(n int) string {
			return "baseline:\n  locked: [" + strings.TrimSuffix("futureField."+lines(n-1, "f%d."), ".") + "]\n"
		}},
		{"values", MostValues, func(n int) string { return "baseline:\n  k8s:\n    labels:\n" + lines(n-2, "      l%d: a\n") }},
		{"items", MostItems, func(n int) string {
			return "placement_profiles:\n- name: a\n  k8s:\n    tolerations:\n" + lines(n, "    - {key: k%d, operator: Exists}\n")
		}},
	}
	for _, test := range tests {
		for beyond := range 2 {
			_, findings := Load("operator.yaml", []byte("version: 1\n"+test.write(test.most+beyond)))
			tooLarge := 0
			for _, f := range findings.All() {
				if f.Severity == finding.Error && f.Code != finding.TooLarge {
					t.Errorf("%s: %v", test.name, f)
				}
				if f.Code == finding.TooLarge {
					tooLarge++
				}
			}
			if tooLarge != beyond {
				t.Errorf("%s, %d: %d findings that it is too large", test.name, test.most+beyond, tooLarge)
			}
		}
	}
}

// BenchmarkLoad reads the ACME file, and the one that takes the longest to compose.
func BenchmarkLoad(b *testing.B) {
	b.Run("acme", func(b *testing.B) { benchmark(b, readACME(b)) })
	b.Run("largest", func(b *testing.B) {
		benchmark(b, "version: 1\nbaseline:\n  k8s:\n    tolerations:\n"+lines(MostItems, "    - {key: k%d, operator: Exists}\n")+
			"  locked:\n  - tolerations\n"+lines(MostItems, "  - tolerations[k%d:Exists::]\n")+
			"placement_profiles:\n"+lines(MostProfiles, "- {name: p%d, k8s: {nodeSelector: {a: b}}}\n"))
	})
	b.Run("unknown", func(b *testing.B) {
		benchmark(b, "version: 1\nplacement_profiles:\n"+lines(MostProfiles, "- {name: p%d, k8s: {}}\n")+
			"environments:\n- name: a\n  permits:\n    placement_profiles:\n"+lines(60000, "    - q%d\n"))
	})
}

func benchmark(b *testing.B, text string) {
	for b.Loop() {
		Load("operator.yaml", []byte(text))
	}
}
