package archtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Problem is something wrong, and where.
type Problem struct {
	File string
	Line int // 0: the whole file or folder
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// ParseLattice reads a lattice in the format that the head of lattice.txt describes. The lattice
// can be used only if there are no problems.
func ParseLattice(file, text string) (*Lattice, []Problem) {
	p := &reader{
		lattice: &Lattice{File: file, packages: map[string]*Declared{}, tests: map[string]bool{}},
		named:   map[string][]string{},
		direct:  map[string]map[string]bool{},
	}
	statements := p.split(text)
	for _, s := range statements {
		p.declare(s)
	}
	for _, s := range statements {
		p.relate(s)
	}
	if p.lattice.Module == "" {
		p.problem(0, "no module: begin with a line \"module PATH\"")
	}
	if cycle := p.lattice.order(p.direct); cycle != nil {
		p.problem(p.lattice.packages[cycle[0]].Line, "a cycle: %s", strings.Join(cycle, " < "))
	}
	slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
	return p.lattice, p.problems
}

type reader struct {
	lattice  *Lattice
	named    map[string][]string        // rings and "=" names: their packages
	direct   map[string]map[string]bool // package: what "<" lets it import
	problems []Problem
}

// statement is a line and what belongs to it: of a ring its packages, else its continuation.
type statement struct {
	line  int
	text  string
	lines []statement // of a ring
}

func (p *reader) problem(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{p.lattice.File, line, fmt.Sprintf(format, args...)})
}

// split cuts the text into statements.
func (p *reader) split(text string) []statement {
	var statements []statement
	for i, line := range strings.Split(text, "\n") {
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")
		line = strings.TrimSpace(line)
		switch last := len(statements) - 1; {
		case line == "" || strings.HasPrefix(line, "#"):
		case !indented:
			statements = append(statements, statement{line: i + 1, text: line})
		case last < 0:
			p.problem(i+1, "an indented line that nothing precedes")
		case strings.HasPrefix(statements[last].text, "ring "):
			statements[last].lines = append(statements[last].lines, statement{line: i + 1, text: line})
		default:
			statements[last].text += " " + line
		}
	}
	return statements
}

// declare reads what gives names: the module, rings and "=".
func (p *reader) declare(s statement) {
	keyword, rest, _ := strings.Cut(s.text, " ")
	switch {
	case keyword == "module":
		p.lattice.Module = strings.TrimSpace(rest)
	case keyword == "ring":
		p.declareRing(s, strings.TrimSpace(rest))
	case isAlias(s.text):
		name, list, _ := strings.Cut(s.text, "=")
		name = strings.TrimSpace(name)
		if p.fresh(s.line, name) {
			p.named[name] = p.packages(s.line, list, nil)
		}
	}
}

func (p *reader) declareRing(s statement, name string) {
	if !p.fresh(s.line, name) {
		return
	}
	ring := Ring{Name: name}
	for _, line := range s.lines {
		pkg, promise, _ := strings.Cut(line.text, " ")
		promise = strings.TrimSpace(promise)
		if promise == "" {
			p.problem(line.line, "%s has no promise: write it behind the path, in one line", pkg)
		}
		if before, ok := p.lattice.packages[pkg]; ok {
			p.problem(line.line, "%s is in ring %s already, line %d", pkg, before.Ring, before.Line)
			continue
		}
		d := &Declared{Path: pkg, Promise: promise, Ring: name, Line: line.line}
		p.lattice.packages[pkg] = d
		ring.Packages = append(ring.Packages, d)
		p.named[name] = append(p.named[name], pkg)
	}
	if len(ring.Packages) == 0 {
		p.problem(s.line, "ring %s has no packages: indent them under it", name)
	}
	p.lattice.Rings = append(p.lattice.Rings, ring)
}

func (p *reader) fresh(line int, name string) bool {
	_, taken := p.named[name]
	switch {
	case name == "" || strings.ContainsAny(name, " ,/<:"):
		p.problem(line, "%q is no name: one word, without a slash", name)
	case taken || name == "all" || name == "tests" || name == goroutines:
		p.problem(line, "%s is a name already", name)
	default:
		return true
	}
	return false
}

func isAlias(text string) bool {
	relation, _, _ := strings.Cut(text, ":") // reasons may say anything
	return strings.Contains(relation, "=") && !strings.Contains(relation, "<")
}

// relate reads what is said about names.
func (p *reader) relate(s statement) {
	keyword, rest, _ := strings.Cut(s.text, " ")
	relation, reason, reasoned := strings.Cut(s.text, ":")
	switch {
	case keyword == "module" || keyword == "ring" || isAlias(s.text):
	case keyword == "use":
		p.use(s.line, rest)
	case strings.Contains(relation, "!<"):
		p.ban(s.line, relation, strings.TrimSpace(reason))
	case reasoned:
		p.problem(s.line, "a reason belongs behind a ban (\"!<\") or a use, not here")
	case strings.Contains(relation, "<"):
		p.chain(s.line, relation)
	default:
		p.problem(s.line, "%q is none of: module, ring, NAME = ..., A < B, A !< B: REASON, use", s.text)
	}
}

func (p *reader) chain(line int, text string) {
	var lower, previous []string
	links := strings.Split(text, "<")
	for i, link := range links {
		var tests bool
		upper := p.packages(line, link, &tests)
		switch {
		case tests && (i == 0 || i < len(links)-1):
			p.problem(line, "tests can only be last: nothing imports them")
		case tests:
			maps.Copy(p.lattice.tests, set(previous))
		}
		for _, pkg := range upper {
			if p.direct[pkg] == nil {
				p.direct[pkg] = map[string]bool{}
			}
			maps.Copy(p.direct[pkg], set(lower))
		}
		lower, previous = append(lower, upper...), upper
	}
}

func (p *reader) ban(line int, relation, reason string) {
	ban := Ban{Reason: reason, Line: line}
	what, on, _ := strings.Cut(relation, "!<")
	if rest, ok := strings.CutPrefix(on, "<"); ok {
		ban.Link, on = true, rest
	}
	if strings.Contains(on, "<") {
		p.problem(line, "a ban is one A !< B: write a line of its own for the next")
		return
	}
	if reason == "" {
		p.problem(line, "a ban without a reason: write it behind a colon")
	}
	names := fields(what)
	if len(names) == 0 {
		p.problem(line, "nothing stands on the left of the ban")
	}
	for _, name := range names {
		ban.What = append(ban.What, p.banned(line, name)...)
	}
	ban.On = set(p.packages(line, on, &ban.Tests))
	if ban.Link && ban.Tests {
		p.problem(line, "\"!<<\" can't hold for tests: what is linked is counted without them")
	}
	p.lattice.Bans = append(p.lattice.Bans, ban)
}

// banned gives the full import paths of a name on the left of a ban.
func (p *reader) banned(line int, name string) []string {
	if pkgs, ok := p.named[name]; ok {
		full := make([]string, len(pkgs))
		for i, pkg := range pkgs {
			full[i] = p.lattice.Module + "/" + pkg
		}
		return full
	}
	if _, ok := p.lattice.packages[name]; ok {
		return []string{p.lattice.Module + "/" + name}
	}
	if p.looksOurs(name) {
		p.problem(line, "%s is in no ring", name)
		return nil
	}
	return []string{name}
}

// looksOurs says whether a name that is in no ring shares its first folder with one that is.
func (p *reader) looksOurs(name string) bool {
	top, _, slash := strings.Cut(name, "/")
	if !slash {
		return false
	}
	for pkg := range p.lattice.packages {
		if strings.HasPrefix(pkg, top+"/") {
			return true
		}
	}
	return false
}

func (p *reader) use(line int, text string) {
	relation, reason, _ := strings.Cut(text, ":")
	head, in, ok := strings.Cut(relation, " in ")
	words := strings.Fields(head)
	u := Use{Reason: strings.TrimSpace(reason), Line: line}
	if !ok || len(words) != 2 || u.Reason == "" {
		p.problem(line, "write: use MODULE LICENCE in PACKAGES: REASON")
		return
	}
	u.Module, u.Licence = words[0], words[1]
	u.In = set(p.packages(line, in, &u.Tests))
	p.lattice.Uses = append(p.lattice.Uses, u)
}

// packages expands a list of packages, rings and names. "all" and "tests" stand only where tests
// is given, which is then set if "tests" was there.
func (p *reader) packages(line int, list string, tests *bool) []string {
	var pkgs []string
	names := fields(list)
	if len(names) == 0 {
		p.problem(line, "a list is empty")
	}
	for _, name := range names {
		switch named, ok := p.named[name]; {
		case ok:
			pkgs = append(pkgs, named...)
		case p.lattice.packages[name] != nil:
			pkgs = append(pkgs, name)
		case name == "tests" && tests != nil:
			*tests = true
		case name == "all" && tests != nil:
			pkgs = append(pkgs, slices.Sorted(maps.Keys(p.lattice.packages))...)
		default:
			p.problem(line, "%s is neither a package in a ring, nor a ring, nor a name given above", name)
		}
	}
	return pkgs
}

func fields(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func set(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
