package expression

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzTemplate compiles and evaluates whatever is written: no panic, each problem is one that can be
// shown, and what is valid here is so however often it is compiled.
func FuzzTemplate(f *testing.F) {
	data, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if _, text, ok := strings.Cut(line, "> "); ok && !strings.HasPrefix(line, " ") {
			f.Add(text)
		}
	}
	for _, text := range []string{
		"a${{ params.jobs }}b${{ {'a': [1.5, true, 1u]} }}", `${{ r"}}" + '''}}''' }}`, "${{ run.started_at }}",
		"${{ matrix.items.map(x, [x]).exists(y, y == ['x']) }}", "${{ '%s %d'.format([matrix.arch, matrix.n]) }}",
		"${{ [1].map(a,[a,a]).map(a,[a,a]) == [[[1,1],[1,1]]] }}", "${{ params.list.replace('a', params.evil) }}",
		"${{ 'a'.matches('(a*)*b') ? null : b'a' }}", "always() && success()", "${{ .params.jobs }}", "${{ params.`a b` }}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c Compiler
		template, problems := c.Template(text, inIf)
		again, _ := c.Template(text, inIf)
		if (template == nil) != (len(problems) > 0) || (again == nil) != (template == nil) {
			t.Fatalf("%v, %v", problems, again)
		}
		for _, p := range problems {
			if p.Message == "" || p.Fix == "" || p.Code.Title() == "" || utf8.ValidString(text) && !utf8.ValidString(p.Message) {
				t.Errorf("%+v", p)
			}
		}
		if template != nil {
			evaluate(t, template)
		}
		if condition, _ := c.Condition(text, inIf); condition != nil {
			_, _ = condition.Holds(values)
		}
	})
}

func evaluate(t *testing.T, template *Template) {
	v, err := template.Eval(values)
	again, err2 := template.Eval(values)
	if (err == nil) != (err2 == nil) {
		t.Fatal(err, err2)
	}
	text, ok := v.(string)
	if !ok {
		return
	}
	if text != again || template.Type() != String && template.Type() != Dyn {
		t.Fatalf("%q and %q, of type %s", text, again, template.Type())
	}
	if printed, err := template.Print(values); err != nil || printed != text {
		t.Fatalf("%q and %q: %v", text, printed, err)
	}
}

// TestValuesComeOutAsTheyAre: what an expression yields is not looked at again, whatever is in it, and
// the text around it stays as it was.
func TestValuesComeOutAsTheyAre(t *testing.T) {
	pieces := rapid.SliceOf(rapid.OneOf(
		rapid.SampledFrom([]string{"${{ params.jobs }}", "${{", "}}", "$(HOME)", "$$", `\`, "'", `"`, "{", "\x00", "\xff", "\n"}),
		rapid.String()))
	rapid.Check(t, func(t *rapid.T) {
		value := strings.Join(pieces.Draw(t, "value"), "")
		before := strings.ReplaceAll(strings.Join(pieces.Draw(t, "before"), ""), "${{", "")
		given := &Values{
			Params:  map[string]string{"evil": value},
			Matrix:  map[string]any{"arch": value},
			Steps:   map[string]StepValue{"build": {Outputs: map[string]string{"digest": value}}},
			Success: true,
		}
		if strings.HasSuffix(before, "$") || strings.Contains(before, "${{") {
			before += "|" // or it would begin an expression together with what follows
			before = strings.ReplaceAll(before, "${{", "")
		}
		for _, source := range []string{"params.evil", "matrix.arch", "steps.build.outputs.digest", "[params.evil].join('')"} {
			for _, text := range []string{"${{ " + source + " }}", before + "${{" + source + "}}}}"} {
				var c Compiler
				template, problems := c.Template(text, inRun)
				if template == nil {
					t.Fatalf("%q: %v", text, problems)
				}
				want := value
				if !template.Whole() {
					want = before + value + "}}"
				}
				if got, err := template.Eval(given); err != nil || got != want {
					t.Fatalf("%q: got %q, %v, want %q", text, got, err, want)
				}
			}
		}
	})
}

var examples = map[string]string{
	"name":      "${{ params.jobs }}",
	"text":      "make -j ${{ params.jobs }} ARCH=${{ matrix.arch }}",
	"condition": "${{ params.version.startsWith('v') && steps.build.outputs.digest != '' }}",
	"macro":     "${{ params.list.split(',').exists(x, x == matrix.arch) }}",
}

func BenchmarkCompile(b *testing.B) {
	for name, text := range examples {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var c Compiler
				c.Template(text, inRun)
			}
		})
	}
}

func BenchmarkCompileAgain(b *testing.B) {
	for name, text := range examples {
		b.Run(name, func(b *testing.B) {
			var c Compiler
			b.ReportAllocs()
			for b.Loop() {
				c.Template(text, inRun)
			}
		})
	}
}

func BenchmarkEval(b *testing.B) {
	for name, text := range examples {
		b.Run(name, func(b *testing.B) {
			var c Compiler
			template, _ := c.Template(text, inRun)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := template.Eval(values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorst is a file full of expressions that take as long as any to check.
func BenchmarkWorst(b *testing.B) {
	kinds := map[string]string{
		"loops": "[%d]" + strings.Repeat(".map(a,[a])", MostLoops), "short": "%d", "index": "[%d][0]" + strings.Repeat("+[1][0]", 90), "maps": "[%d,{}=={}" + strings.Repeat(",{}=={}", 580) + "]"}
	for name, kind := range kinds {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var c Compiler
				n := 0
				for ; c.known(sprintf("${{"+kind+"}}", n)); n++ {
				}
				b.ReportMetric(float64(n), "expressions")
			}
		})
	}
}
