package source

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

type colour string

func (colour) Values() []string { return []string{"red", "green"} }

type inner struct {
	Name  string `yaml:"name,required" doc:"the name"`
	Count int    `yaml:"count"`
}

type outer struct {
	inner
	Flag   *bool            `yaml:"flag"`
	List   []inner          `yaml:"list"`
	Env    map[string]Text  `yaml:"env"`
	Colour colour           `yaml:"colour"`
	Wait   Duration         `yaml:"wait"`
	Raw    *Node            `yaml:"raw"`
	Ports  map[string]int64 `yaml:"ports"`
}

func (outer) Hints() map[string]string { return map[string]string{"old": "write list instead"} }

func TestDecode(t *testing.T) {
	const text = `
name: x
count: 0o10
flag: false
list: [{name: a}, {name: b, count: 2}]
env: {A: 010, B: 1.20, C: true, D: "x"}
colour: green
wait: 1h30m
raw: {anything: [1]}
ports: {http: 80}
`
	n, findings := Parse("f.yaml", []byte(text))
	var got outer
	findings.Join(Decode(n, &got))
	check(t, got)
	if findings.Len() > 0 {
		t.Error(findings.Text(nil))
	}
}

func check(t *testing.T, got outer) {
	off := false
	raw := got.Raw
	got.Raw = nil
	want := outer{inner: inner{"x", 8}, Flag: &off, List: []inner{{Name: "a"}, {"b", 2}},
		Env: map[string]Text{"A": "010", "B": "1.20", "C": "true", "D": "x"}, Colour: "green",
		Wait: Duration(90 * time.Minute), Ports: map[string]int64{"http": 80}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(raw.Any(), map[string]any{"anything": []any{int64(1)}}) {
		t.Errorf("raw is %v", raw.Any())
	}
	if got.Wait.String() != "1h30m" || Duration(time.Hour).String() != "1h" || Duration(90*time.Second).String() != "1m30s" {
		t.Error(got.Wait, Duration(time.Hour), Duration(90*time.Second))
	}
}

func TestDecodeFaults(t *testing.T) {
	tests := []struct{ text, want string }{
		{"coutn: 1", `coutn: error: unknown key "coutn" (unknown_key) fix: did you mean count?`},
		{"old: 1", `fix: write list instead`},
		{"zzzzzzz: 1", `fix: known here: name, count, flag,`},
		{"count: 1", `name: error: the file has no name (key_missing)`},
		{"name: 1.20", `name is a number (1.20), and must be a string (not_a_string) fix: quote it: "1.20"`},
		{"name: [a]", `name is a list, and must be a string (wrong_type)`},
		{"name:", `name has no value (wrong_type) fix: give it a value, or leave the key out`},
		{"count: 010", `010 is octal to some readers of YAML and decimal to others (number_ambiguous) fix: write 0o10 (8) or 10`},
		{"count: 09", `(number_ambiguous) fix: write 9`},
		{"count: 1.5", `count is a number (1.5), and must be an integer`},
		{"count: 99999999999999999999", `is too large for an integer of 64 bits (number_out_of_range)`},
		{`flag: "true"`, `flag is a string, and must be a boolean (wrong_type) fix: write true or false`},
		{"flag: yes", `flag is a string`},
		{"flag:", `flag has no value`},
		{"list: {}", `list is a map, and must be a list`},
		{"list: [{name: a, cont: 1}]", `list[a].cont: error: unknown key "cont" (unknown_key) fix: did you mean count?`},
		{"list: [{count: 1}]", `list[0].name: error: list[0] has no name`},
		{"env: [a]", `env is a list, and must be a map`},
		{"env: {A: [x]}", `env.A is a list, and must be a string, a number or a boolean`},
		{"env: {A: }", `env.A has no value`},
		{"env: {1: x}", `the key 1 is an integer, and keys are strings (not_a_string) fix: quote it: "1"`},
		{"colour: gren", `colour is "gren", and must be red or green (value_unknown) fix: did you mean green?`},
		{"wait: 5", `wait is a number without a unit (wrong_type) fix: write 5s if you mean seconds`},
		{"wait: 5d", `wait is no duration: "5d" (value_invalid) fix: write 30s, 5m or 1h30m`},
		{"wait: -5s", `wait is negative`},
		{"name: a\nname: b", `the key "name" occurs twice, first in line 1 (key_twice)`},
	}
	for _, test := range tests {
		n, findings := Parse("f.yaml", []byte(test.text))
		findings.Join(Decode(n, &outer{}))
		got := strings.ReplaceAll(findings.Text(nil), "\n    fix:", " fix:")
		for _, line := range strings.Split(got, "\n") {
			if line != "" && !strings.HasPrefix(line, "f.yaml:") {
				t.Errorf("%q: a finding without position: %s", test.text, line)
			}
		}
		paths := ""
		for _, f := range findings.All() {
			paths += f.Path + ": " + strings.TrimPrefix(f.String(), f.Position()+": ") + " fix: " + f.Fix + "\n"
		}
		if !strings.Contains(paths, test.want) {
			t.Errorf("%q:\n%s\nlacks %s", test.text, paths, test.want)
		}
	}
}
