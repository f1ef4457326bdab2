package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

// TestBounds holds files to the bounds that are about more than one value.
func TestBounds(t *testing.T) {
	head := "version: 1\nname: p\nsteps:\n"
	var many, wide, costly strings.Builder
	for i := range MostSteps + 1 {
		fmt.Fprintf(&many, "  - {name: s%d, run: x}\n", i)
	}
	for i := range 9 {
		fmt.Fprintf(&wide, "  - {name: s%d, run: x, matrix: {a: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], b: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}}\n", i)
	}
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 20), ",") + "]"
	for i := range 2000 {
		fmt.Fprintf(&costly, "  - {name: s%d, run: \"${{ string(%s.map(a, %s.map(b, a + b).size()).size()) }}\"}\n", i, list, list)
	}
	tests := []struct{ name, text, want string }{
		{"steps", head + many.String(), "steps has 2001 entries, and 2000 are the most"},
		{"instances together", head + wide.String(), "a run would have more than 2000 steps"},
		{"script", head + "  - {name: a, run: \"" + strings.Repeat("x", MostScriptBytes+1) + "\"}\n", "the script has 65537 bytes, and 65536 are the most"},
		{"work of all expressions", head + costly.String(), "the expressions of the run together take more than the 2000000 units of work"},
		{"overlays together", head[:19] + "defaults:\n  k8s_overlay: {dnsConfig: {searches: [" + strings.Repeat("a,", 200) + "]}}\nsteps:\n" + strings.Join(strings.SplitAfter(many.String(), "\n")[:600], ""), "have more than 100000 values"},
		{"outputs, with three services", head + "  - {name: a, run: x, outputs: [" + strings.Repeat("o", 3070) + "], services: [{name: a, image: i}, {name: b, image: i}, {name: c, image: i}]}\n", "3072 bytes, and 3071"},
		{"values of an axis", head + "  - {name: a, run: x, matrix: {a: [" + strings.Repeat("1,", 600) + "]}}\n", "has 600 entries, and 500 are the most"},
		{"an overlay's list", head + "  - {name: a, run: x, k8s_overlay: {tolerations: [" + strings.Repeat("{},", 201) + "]}}\n", "has 201 entries, and 200 are the most"},
		{"keys", head + "  - {name: a, run: x}\n" + keys(600), "the file has 603 entries, and 500 are the most"},
		{"a pattern", "version: 1\nname: p\nparams: {p: {pattern: \"" + strings.Repeat("a", 201) + "\"}}\nsteps: [{name: a, run: x}]\n", "the pattern has 201 characters"},
		{"outputs", head + "  - {name: a, run: x, outputs: [" + strings.Repeat("o", 4094) + "]}\n", "4096 bytes, and 4095"},
	}
	for _, test := range tests {
		f, findings := Parse("p.yaml", []byte(test.text), Options{})
		if f != nil {
			var more finding.List
			_, more = f.Expand(Input{})
			findings.Join(more)
		}
		if all := findings.All(); len(all) == 0 || !strings.Contains(findings.Text(nil), test.want) || all[0].Line == 0 {
			t.Errorf("%s: %.300s", test.name, findings.Text(nil))
		}
	}
}

// TestMatrixCountsOnce: an instance has values of the matrix, not the matrix.
func TestMatrixCountsOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nname: p\nsteps:\n")
	for i := range 8 {
		fmt.Fprintf(&b, "  - {name: s%d, run: x, matrix: {n: [%s0]}}\n", i, numbers(249))
	}
	if _, findings := Parse("p.yaml", []byte(b.String()), Options{}); findings.Len() > 0 {
		t.Errorf("%.500s", findings.Text(nil))
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d, ", i+1)
	}
	return b.String()
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: x\n", i)
	}
	return b.String()
}
