package expression

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A scope of each kind, and values for the first.
var (
	inRun = &Scope{
		Where: "run", Params: []string{"jobs", "version", "list", "evil"},
		Matrix: map[string]Type{"arch": String, "n": Int, "on": Bool, "f": Double, "items": List, "m": Map, "any": Dyn},
		Run:    []string{"id", "pipeline", "environment", "started_at"},
		Steps: map[string]Step{
			"build": {Outputs: []string{"digest", "size"}}, "build-image": {Outputs: []string{"tag"}}, "test": {Matrix: true}},
		AllSteps: []string{"build", "build-image", "test", "publish"},
	}
	inIf        = with(inRun, func(s *Scope) { s.Where, s.Status = "if", true })
	inPlacement = &Scope{Where: "placement fields", Params: inRun.Params, Matrix: map[string]Type{},
		Run: []string{"pipeline", "environment"}, AllSteps: inRun.AllSteps}
	inOperator = &Scope{Where: "labels of the operator file", Run: []string{"pipeline", "environment"}}

	values = &Values{
		Params: map[string]string{"jobs": "4", "version": "v1", "list": "a,b", "evil": "${{ params.jobs }} $(JOBS)"},
		Matrix: map[string]any{"arch": "arm64", "n": int64(3), "on": true, "f": 1.5,
			"items": []any{"x", int64(1)}, "m": map[string]any{"k": "v"}},
		Run:     Run{ID: "r1", Pipeline: "release", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))},
		Steps:   map[string]StepValue{"build": {Status: "succeeded", Outputs: map[string]string{"digest": "sha256:ab"}}},
		Success: true,
	}
)

func with(s *Scope, change func(*Scope)) *Scope {
	out := *s
	change(&out)
	return &out
}

func TestEval(t *testing.T) {
	for text, want := range map[string]any{
		// Texts and what is in them.
		"plain":     "plain",
		"":          "",
		"}} $ { {{": "}} $ { {{",
		"a${{ params.jobs }}b${{params.version}}c": "a4bv1c",
		"${{ params.jobs }}":                       "4",
		" ${{ matrix.n }}":                         " 3",
		"${{ params.evil }}":                       "${{ params.jobs }} $(JOBS)",
		"x ${{ params.evil }}":                     "x ${{ params.jobs }} $(JOBS)",
		"${{ '${{' }}":                             "${{",
		"${{ '}}' }}":                              "}}",
		`${{ "\"}}" }}`:                            `"}}`,
		`${{ r'\' + '}}' }}`:                       `\}}`,
		`${{ '''a}}'b\'''' }}`:                     "a}}'b'",
		"${{ \"\"\"a\n}}\"\"\" }}":                 "a\n}}",
		`${{ br'\}}' == b'' }}`:                    false,
		"${{ {'a': {'b': '}}'}}['a'].b }}":         "}}",
		"${{ 1 // don't }} x":                      "1 x",
		"${{ {'a': 1 // }}\n}.a }}":                int64(1),
		"${{\n  params.jobs\n}}":                   "4",
		"${{ params.`jobs` }}":                     "4",

		// What can be read.
		`${{ params["jobs"] }}`:                      "4",
		"${{ has(params.jobs) }}":                    true,
		"${{ matrix.arch }}":                         "arm64",
		"${{ has(matrix.any) ? matrix.any : 0 }}":    int64(0),
		"${{ matrix.items[0] }}":                     "x",
		"${{ matrix.m.k }}":                          "v",
		"${{ run.pipeline + '/' + run.id }}":         "release/r1",
		"${{ run.environment }}":                     "",
		"${{ has(run.environment) }}":                false,
		"${{ run.started_at }}":                      "2026-01-02T02:04:05Z",
		"${{ run.started_at.getFullYear() }}":        int64(2026),
		"${{ steps.build.status }}":                  "succeeded",
		"${{ steps.build.outputs.digest }}":          "sha256:ab",
		"${{ steps.build.outputs.size }}":            "",
		"${{ has(steps.build.outputs.digest) }}":     true,
		"${{ has(steps.build.outputs.size) }}":       false,
		`${{ steps["build-image"].outputs["tag"] }}`: "",

		// Types.
		"${{ matrix.n + 1 }}":                        int64(4),
		"${{ int(params.jobs) * 2 }}":                int64(8),
		"${{ matrix.f }}":                            1.5,
		"${{ matrix.on }}":                           true,
		"${{ matrix.items }}":                        []any{"x", int64(1)},
		"${{ matrix.m }}":                            map[string]any{"k": "v"},
		"${{ params.list.split(',') }}":              []any{"a", "b"},
		"${{ {'a': [1, 2.5, false]} }}":              map[string]any{"a": []any{int64(1), 2.5, false}},
		"${{ [] }}":                                  []any{},
		"${{ 7u }}":                                  int64(7),
		"${{ [timestamp('2026-01-01T00:00:00Z')] }}": []any{"2026-01-01T00:00:00Z"},
		"${{ string(duration('90s')) }}":             "90s",

		// Printing.
		"=${{ 7u }}":              "=7",
		"=${{ -1 }}":              "=-1",
		"=${{ matrix.on }}":       "=true",
		"=${{ 1000000.0 }}":       "=1000000",
		"=${{ 0.1 }}":             "=0.1",
		"=${{ 1e100 }}":           "=1e+100",
		"=${{ run.started_at }}":  "=2026-01-02T02:04:05Z",
		"=${{ matrix.items[1] }}": "=1",
		"=${{ params.list.split(',').map(x, x.upperAscii()).join('-') }}": "=A-B",
	} {
		var c Compiler
		template, problems := c.Template(text, inRun)
		if template == nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		if got, err := template.Eval(values); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v, want %#v", text, got, err, want)
		}
	}
}

func TestAbsent(t *testing.T) {
	var c Compiler
	for text, want := range map[string]any{
		"${{ params.jobs }}": "", "${{ has(params.jobs) }}": false, "${{ run.environment }}": "",
		"${{ steps.build.status }}": "", "${{ has(matrix.n) }}": false,
	} {
		template, problems := c.Template(text, inRun)
		if got, err := template.Eval(&Values{}); err != nil || got != want {
			t.Errorf("%s: got %#v, %v, %v", text, got, err, problems)
		}
	}
}

func TestTemplateFacts(t *testing.T) {
	tests := []struct {
		text  string
		whole bool
		kind  Type
		late  bool
		uses  string
	}{
		{"plain", false, String, false, ""},
		{"${{ params.jobs }}", true, String, false, "0:params.jobs"},
		{"${{ params.jobs }}\n", false, String, false, "0:params.jobs"},
		{"${{ matrix.n }}${{ run.pipeline }}", false, String, false, "0:matrix.n 1:run.pipeline"},
		{"${{ matrix.n }}", true, Int, false, "0:matrix.n"},
		{"${{ matrix.any }}", true, Dyn, false, "0:matrix.any"},
		{"${{ [1] }}", true, List, false, ""},
		{"${{ {'a': 1} }}", true, Map, false, ""},
		{"${{ 1.0 }}", true, Double, false, ""},
		{"${{ run.started_at }}", true, String, true, "0:run.started_at"},
		{"${{ run.id }}", true, String, true, "0:run.id"},
		{"${{ has(params.jobs) && params.jobs == params.jobs }}", true, Bool, false, "0:params.jobs"},
		{`${{ [1].exists(x, steps["build-image"].outputs.tag == '') }}`, true, Bool, true, `0:steps["build-image"].outputs.tag`},
		{"${{ {steps.build.status: params.jobs} }}", true, Map, true, "0:steps.build.status 0:params.jobs"},
		{"${{ matrix.items[int(params.jobs)] }}", true, Dyn, false, "0:params.jobs 0:matrix.items"},
	}
	for _, test := range tests {
		var c Compiler
		template, problems := c.Template(test.text, inRun)
		if template == nil {
			t.Errorf("%s: %v", test.text, problems)
			continue
		}
		var uses []string
		for _, use := range template.Uses() {
			uses = append(uses, sprintf("%d:%s", use.Index, use))
		}
		if template.Whole() != test.whole || template.Type() != test.kind || template.Late() != test.late || strings.Join(uses, " ") != test.uses {
			t.Errorf("%s: whole %v, %s, late %v, %v", test.text, template.Whole(), template.Type(), template.Late(), uses)
		}
	}
}

func TestCondition(t *testing.T) {
	failed := &Values{Failure: true, Steps: values.Steps}
	tests := []struct {
		text                       string
		handles, succeeded, failed bool
	}{
		{"true", false, true, false},
		{"params.jobs == '4'", false, true, false},
		{" ${{ params.jobs == '4' }}\n", false, true, false},
		{"success()", false, true, false},
		{"success() || true", false, true, false},
		{"always()", true, true, true},
		{"failure()", true, false, true},
		{"always() && steps.build.outputs.digest != ''", true, true, true},
		{"params.jobs == '4' || failure()", true, true, true},
		{"matrix.any == 1", false, false, false},          // see below: the axis is given
		{"1 / int(params.jobs) == 0", false, true, false}, // not evaluated after a failure
	}
	for _, test := range tests {
		var c Compiler
		condition, problems := c.Condition(test.text, inIf)
		if condition == nil {
			t.Errorf("%s: %v", test.text, problems)
			continue
		}
		given := *values
		given.Matrix = map[string]any{"any": "x"}
		ok, err := condition.Holds(&given)
		bad, err2 := condition.Holds(failed)
		if condition.HandlesFailure() != test.handles || ok != test.succeeded || bad != test.failed || err != nil || err2 != nil {
			t.Errorf("%s: handles %v, %v, %v, %v, %v", test.text, condition.HandlesFailure(), ok, bad, err, err2)
		}
	}
}

func TestConditionThatIsNoBool(t *testing.T) {
	var c Compiler
	condition, _ := c.Condition("matrix.any", inIf)
	_, err := condition.Holds(&Values{Success: true, Matrix: map[string]any{"any": "true"}})
	if err == nil || err.Error() != "matrix.any: an if has to be true or false, and this is neither" {
		t.Error(err)
	}
}

func TestEvalErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a ${{ matrix.any }}":               "matrix.any: this instance of the step has no axis any",
		"${{ 1 / (int(params.jobs) - 4) }}": "1 / (int(params.jobs) - 4): division by zero",
		"${{ int(params.version) }}":        "int(params.version): type conversion error from 'string' to 'int'",
		"${{ 18446744073709551615u }}":      "18446744073709551615u: 18446744073709551615 is too large for an integer",
		"${{ {1: 2} }}":                     "{1: 2}: the keys of a map have to be strings, and one is an int",
		"${{ [null] }}":                     "[null]: null can't be printed into a string",
		"x${{ dyn([1]) }}":                  "dyn([1]): a list can't be printed into a string",
		"x${{ dyn(b'a') }}":                 "dyn(b'a'): bytes can't be printed into a string",
		"${{ dyn(1) + 'a' }}":               "dyn(1) + 'a': a function or operator does not take the values that it got",
	} {
		var c Compiler
		template, problems := c.Template(text, inRun)
		if template == nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		v, err := template.Eval(values)
		var p *Problem
		if !errors.As(err, &p) || p.Message != want || p.Code != "expression_failed" || p.Index != 0 {
			t.Errorf("%s: got %v, %v, want %s", text, v, err, want)
		}
	}
}

func TestPrint(t *testing.T) {
	var c Compiler
	template, _ := c.Template("${{ matrix.n }}", inRun)
	if got, err := template.Print(values); got != "3" || err != nil {
		t.Error(got, err)
	}
	template, _ = c.Template("${{ matrix.items }}", inRun)
	if got, err := template.Print(values); err == nil {
		t.Error(got)
	}
}

// TestTypesOfAxes: one text, in steps whose axes have other types.
func TestTypesOfAxes(t *testing.T) {
	var c Compiler
	for range 2 {
		for kind, valid := range map[Type]bool{Int: true, String: false, Dyn: true} {
			template, problems := c.Template("${{ matrix.n + 1 }}", &Scope{Matrix: map[string]Type{"n": kind}})
			if (template != nil) != valid {
				t.Errorf("%s: %v", kind, problems)
			}
		}
	}
}

func TestScopesThatAreEmpty(t *testing.T) {
	var c Compiler
	for text, want := range map[string]string{
		"${{ params.a }}":       "params.a: there is no parameter a",
		"${{ matrix.a }}":       "matrix.a: there is no axis a",
		"${{ steps.a.status }}": "steps.a.status: there is no step a",
	} {
		_, problems := c.Template(text, &Scope{Matrix: map[string]Type{}, Steps: map[string]Step{}})
		if len(problems) != 1 || problems[0].Message != want {
			t.Errorf("%s: %v", text, problems)
		}
	}
}
