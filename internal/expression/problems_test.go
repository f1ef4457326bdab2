package expression

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/finding"
)

var update = flag.Bool("update", false, "write the results in testdata anew")

// TestProblems reads testdata/problems.txt, which says what is told of expressions that are wrong.
func TestProblems(t *testing.T) {
	const file = "testdata/problems.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var c Compiler
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		b.WriteString(line)
		where, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ">")
		if !ok || strings.Contains(where, " ") {
			continue
		}
		b.WriteString(told(t, &c, where, strings.TrimPrefix(text, " ")))
	}
	switch {
	case *update:
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	case b.String() != string(data):
		t.Errorf("not as %s says (-update writes it anew):\n%s", file, b.String())
	}
}

// told is what is said of a text. That it is complete is checked on the way.
func told(t *testing.T, c *Compiler, where, text string) string {
	scope := map[string]*Scope{"run": inRun, "if": inIf, "placement": inPlacement, "operator": inOperator}[where]
	compile := c.Template
	if where == "if" {
		compile = c.Condition
	}
	template, problems := compile(text, scope)
	if (template == nil) != (len(problems) > 0) {
		t.Errorf("%s: a template and problems, or neither: %v", text, problems)
	}
	var b strings.Builder
	for _, p := range problems {
		if p.Code.Title() == "" || p.Fix == "" || strings.HasSuffix(p.Message, ".") || strings.ContainsAny(p.Message, "@\n") {
			t.Errorf("%s: not as a finding has to be: %+v", text, p)
		}
		b.WriteString(sprintf("    %d %s: %s\n      %s\n", p.Index, p.Code, p.Message, p.Fix))
	}
	return b.String()
}

func TestBounds(t *testing.T) {
	long := "'" + strings.Repeat("a", MostLength-2) + "'"
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	loops := func(n int) string { return "[1]" + strings.Repeat(".map(a, [a])", n) }
	for _, test := range []struct {
		name, within, beyond, says string
	}{
		{"length", long, " " + long + "+''", "the expression has 4099 bytes, and 4096 are the most"},
		{"nesting", deep(MostNesting), deep(MostNesting + 2), "100 levels are the most"},
		{"operators", "1" + strings.Repeat("+1", MostNesting), "1" + strings.Repeat("+1", MostNesting+1), "100 levels are the most"},
		{"loops", loops(MostLoops), loops(MostLoops + 1), "more than 8 macros"},
	} {
		var c Compiler
		if template, problems := c.Template("${{"+test.within+"}}", inRun); template == nil {
			t.Errorf("%s: %v", test.name, problems)
		}
		_, problems := c.Template("${{"+test.beyond+"}}", inRun)
		if len(problems) != 1 || problems[0].Code != finding.TooLarge || !strings.Contains(problems[0].Message, test.says) {
			t.Errorf("%s: %v", test.name, problems)
		}
	}
}

func TestBoundsOfCompiler(t *testing.T) {
	for _, test := range []struct {
		name        string
		text        func(i int) string
		least, most int
	}{
		{"count", func(i int) string { return sprintf("${{%d}}", i) }, MostDistinct, MostDistinct},
		{"bytes", func(i int) string { return sprintf("${{'%0500d'}}", i) }, MostBytes/502 - 1, MostBytes/502 + 1},
		{"loops", func(i int) string { return sprintf("${{[%d]%s}}", i, strings.Repeat(".map(a,a)", MostLoops)) }, 100, 120},
	} {
		var c Compiler
		compiled := 0
		for c.known(test.text(compiled)) {
			compiled++
		}
		if compiled < test.least || compiled > test.most {
			t.Errorf("%s: compiled %d", test.name, compiled)
		}
		if !c.known(test.text(0)) {
			t.Errorf("%s: what was compiled before is not known any more", test.name)
		}
	}
}

func (c *Compiler) known(text string) bool {
	_, problems := c.Template(text, inRun)
	return len(problems) == 0
}

// TestCostly holds evaluating to its bounds. Each of these would take hours, or all memory.
func TestCostly(t *testing.T) {
	nested := "[[1,1]]" + strings.Repeat(".map(a,[a,a,a,a,a,a])", MostLoops)
	counting := "true"
	for i := range MostLoops {
		counting = sprintf("[1,2,3,4,5,6,7,8,9,10].all(x%d, %s)", i, counting)
	}
	large := strings.Repeat("a", MostResult/2)
	for name, source := range map[string]string{
		"nested lists":  nested,
		"and not shown": nested + ".size()",
		"and compared":  nested + " == " + nested,
		"loops":         counting,
		"doubling":      "['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']" + strings.Repeat(".map(a,a+a+a+a+a+a+a+a+a+a)", MostLoops),
		"replace":       "params.list.replace('a', params.list)",
		"replace all":   "params.list.replace('', params.list, 100000000)",
		"join":          "params.list.split('').join(params.list)",
		"concatenation": "params.list + params.list + params.list",
		"format":        "'" + strings.Repeat("%s", 200) + "'.format([" + strings.Repeat("params.list,", 200) + "])",
		"printing":      strings.Repeat("params.list }}${{", 3) + "1",
	} {
		var c Compiler
		template, problems := c.Template("${{"+source+"}}", inRun)
		if template == nil {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		_, err := template.Eval(&Values{Params: map[string]string{"list": large}})
		if err == nil || !strings.Contains(err.Error(), "are the most") && !strings.Contains(err.Error(), "may take") && !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
