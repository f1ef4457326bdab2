package archtest

import (
	"strings"
	"testing"
)

// Each way to write a lattice wrongly, with the line and the words that it is answered with.
func TestParseProblems(t *testing.T) {
	const head = "module m\nring low\n\ta  first\n\tb  second\nring high\n\tc  third\n" // six lines
	tests := []struct {
		name, text string
		want       []string
	}{
		{"fine", head + "low < high\na < b\nx = a, c\nos !< x: no\na !<< c: no\nuse h.org/m MIT in c, tests: yes\n", nil},
		{"continued", head + "a\n\t< b,\n\tc\n# comment\nos !< a:\n\tno\n", nil},
		{"no module", "ring low\n\ta  first\n", []string{`lattice: no module`}},
		{"indented first", "\ta  first\n" + head, []string{`lattice:1: an indented line that nothing precedes`}},
		{"no statement", head + "a b\n", []string{`lattice:7: "a b" is none of`}},
		{"no promise", head + "ring more\n\td\n", []string{`lattice:8: d has no promise`}},
		{"empty ring", head + "ring more\n", []string{`lattice:7: ring more has no packages`}},
		{"package twice", head + "ring more\n\td  x\n\ta  y\n", []string{`lattice:9: a is in ring low already, line 3`}},
		{"name twice", head + "low = a\n", []string{`lattice:7: low is a name already`}},
		{"reserved name", head + "tests = a\n", []string{`lattice:7: tests is a name already`}},
		{"no name", head + "x/y = a\n", []string{`lattice:7: "x/y" is no name`}},
		{"unknown left", head + "aa < b\n", []string{`lattice:7: aa is neither a package`}},
		{"unknown right", head + "a < bb\n", []string{`lattice:7: bb is neither a package`}},
		{"empty list", head + "a <\n", []string{`lattice:7: a list is empty`}},
		{"cycle", head + "a < b < c\nc < a\n", []string{`lattice:3: a cycle: a < c < a`}},
		{"own cycle", head + "a < a\n", []string{`lattice:3: a cycle: a < a`}},
		{"reason on an edge", head + "a < b: since\n", []string{`lattice:7: a reason belongs behind a ban`}},
		{"tests inside", head + "a < tests < b\n", []string{`lattice:7: tests can only be last`}},
		{"tests first", head + "tests < b\n", []string{`lattice:7: tests can only be last`}},
		{"ban without reason", head + "os !< a\n", []string{`lattice:7: a ban without a reason`}},
		{"ban of nothing", head + "!< a: no\n", []string{`lattice:7: nothing stands on the left`}},
		{"ban on unknown", head + "os !< x: no\n", []string{`lattice:7: x is neither a package`}},
		{"ban of unknown", head + "ring more\n\tin/a  x\nin/b !< a: no\n", []string{`lattice:9: in/b is in no ring`}},
		{"two bans in one", head + "os !< a !< b: no\n", []string{`lattice:7: a ban is one A !< B`}},
		{"link ban on tests", head + "a !<< tests: no\n", []string{`lattice:7: "!<<" can't hold for tests`}},
		{"use without licence", head + "use h.org/m in a: yes\n", []string{`lattice:7: write: use MODULE LICENCE`}},
		{"use without reason", head + "use h.org/m MIT in a\n", []string{`lattice:7: write: use MODULE LICENCE`}},
		{"all at once", head + "aa < b\nos !< a\n", []string{`lattice:7: aa is neither`, `lattice:8: a ban without`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := ParseLattice("lattice", test.text)
			compare(t, problems, test.want)
		})
	}
}

// compare wants the problems to begin as given, in that order, and no others.
func compare(t *testing.T, problems []Problem, want []string) {
	t.Helper()
	ok := len(problems) == len(want)
	for i := range min(len(problems), len(want)) {
		ok = ok && strings.HasPrefix(problems[i].String(), want[i])
	}
	if !ok {
		got := make([]string, len(problems))
		for i, p := range problems {
			got[i] = p.String()
		}
		t.Errorf("got:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// The table of who may import whom: each row imports what is marked in its columns.
func TestMayImport(t *testing.T) {
	lattice := parse(t, `
module m
ring words
	a  x
	b  x
ring core
	c  x
	d  x
ring kit
	k  x
ring top
	e  x
words < core < top
core < kit < tests
c < d
`)
	check := func(name string, may func(pkg, other string) bool, want string) {
		t.Helper()
		pkgs := strings.Split("abcdke", "")
		got := "  a b c d k e\n"
		for _, pkg := range pkgs {
			got += pkg
			for _, other := range pkgs {
				mark := " ."
				if may(pkg, other) {
					mark = " x"
				}
				got += mark
			}
			got += "\n"
		}
		if got != want {
			t.Errorf("%s:\n%swant:\n%s", name, got, want)
		}
	}
	check("sources", lattice.MayImport, `  a b c d k e
a . . . . . .
b . . . . . .
c x x . . . .
d x x x . . .
k x x x x . .
e x x x x . .
`)
	check("tests", lattice.testsMayImport, `  a b c d k e
a x x . . x .
b x x . . x .
c x x x x x .
d x x x x x .
k x x x x x .
e x x x x x x
`)
}

func parse(t *testing.T, text string) *Lattice {
	t.Helper()
	lattice, problems := ParseLattice("lattice", text)
	for _, p := range problems {
		t.Fatal(p)
	}
	return lattice
}
