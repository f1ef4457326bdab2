package archtest

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Lattice is lattice.txt, read. Packages of the module are named by their path in it.
type Lattice struct {
	File   string
	Module string
	Rings  []Ring
	Bans   []Ban
	Uses   []Use

	packages map[string]*Declared
	below    map[string]map[string]bool // what a package may import, transitively
	tests    map[string]bool            // what test files may import as well
}

// Ring is a set of packages at one height.
type Ring struct {
	Name     string
	Packages []*Declared
}

// Declared is a package that the lattice places. It need not exist yet.
type Declared struct {
	Path    string
	Promise string
	Ring    string
	Line    int
}

// Ban forbids the packages On to import, or with Link to be linked with, what is in What.
type Ban struct {
	What   []string // full import paths, PATH/... patterns, functions (time.Now), or goroutines
	On     map[string]bool
	Tests  bool // holds for test files too
	Link   bool
	Reason string
	Line   int
}

// Use lets a module of others in.
type Use struct {
	Module, Licence, Reason string
	In                      map[string]bool
	Tests                   bool
	Line                    int
}

// goroutines stands for the go statement on the left of a ban.
const goroutines = "goroutines"

// isFunction tells time.Now from gopkg.in/yaml.v3.
var isFunction = regexp.MustCompile(`^[a-z0-9]+\.[A-Z]\w*$`)

// function splits PACKAGE.NAME of a ban's left side.
func function(what string) (pkg, name string, ok bool) {
	if !isFunction.MatchString(path.Base(what)) {
		return "", "", false
	}
	dot := strings.LastIndex(what, ".")
	return what[:dot], what[dot+1:], true
}

// matches says whether pattern, a path or PATH/..., covers the import path.
func matches(pattern, importPath string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return within(parent, importPath)
	}
	return pattern == importPath
}

// within says whether importPath is parent or lies below it.
func within(parent, importPath string) bool {
	return importPath == parent || strings.HasPrefix(importPath, parent+"/")
}

// isStandard says whether an import path is the standard library's: the first element of every
// other one is a host, which has a dot. https://go.dev/ref/mod#module-path
func isStandard(importPath string) bool {
	host, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(host, ".")
}

// MayImport says whether pkg may import other, both of this module, bans aside.
func (l *Lattice) MayImport(pkg, other string) bool { return l.below[pkg][other] }

// testsMayImport is MayImport for the test files of pkg, which may import pkg itself, all of its
// ring and what lies below any of that.
func (l *Lattice) testsMayImport(pkg, other string) bool {
	if l.tests[other] {
		return true
	}
	for _, p := range l.ring(l.packages[pkg].Ring).Packages {
		if other == p.Path || l.below[p.Path][other] {
			return true
		}
	}
	return false
}

func (l *Lattice) ring(name string) *Ring {
	for i := range l.Rings {
		if l.Rings[i].Name == name {
			return &l.Rings[i]
		}
	}
	return nil
}

// order makes what may be imported directly transitive. It returns a cycle, if there is one.
func (l *Lattice) order(direct map[string]map[string]bool) (cycle []string) {
	l.below = map[string]map[string]bool{}
	var stack []string
	var visit func(pkg string) map[string]bool
	visit = func(pkg string) map[string]bool {
		if i := slices.Index(stack, pkg); i >= 0 {
			if cycle == nil {
				cycle = append(slices.Clone(stack[i:]), pkg)
			}
			return nil
		}
		if done, ok := l.below[pkg]; ok {
			return done
		}
		stack = append(stack, pkg)
		below := map[string]bool{}
		for _, other := range slices.Sorted(maps.Keys(direct[pkg])) {
			below[other] = true
			maps.Copy(below, visit(other))
		}
		stack = stack[:len(stack)-1]
		l.below[pkg] = below
		return below
	}
	for _, pkg := range slices.Sorted(maps.Keys(direct)) {
		visit(pkg)
	}
	return cycle
}
