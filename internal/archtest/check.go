package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// CheckImports holds the packages of the product to the lattice.
func CheckImports(l *Lattice, pkgs []Package) []Problem {
	c := checker{lattice: l, packages: map[string]*Package{}, used: map[int]bool{}}
	for i, pkg := range pkgs {
		if pkg.Module == "." {
			c.packages[pkg.Dir] = &pkgs[i]
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(c.packages)) {
		pkg := c.packages[dir]
		if l.packages[dir] == nil {
			c.problem(dir, 0, "a package that %s does not place: add it to the ring that it belongs in, with its promise", l.File)
			continue
		}
		for _, f := range pkg.Files {
			c.file(dir, &f)
		}
		c.links(dir)
	}
	for _, u := range l.Uses {
		if !c.used[u.Line] {
			c.problem(l.File, u.Line, "nothing imports %s: remove the line", u.Module)
		}
	}
	return c.problems
}

type checker struct {
	lattice  *Lattice
	packages map[string]*Package // of the product
	used     map[int]bool        // lines of uses
	problems []Problem
}

func (c *checker) problem(file string, line int, format string, args ...any) {
	c.problems = append(c.problems, Problem{file, line, fmt.Sprintf(format, args...)})
}

// rule is one thing that one ban is about.
type rule struct {
	what string
	Ban
}

// rules gives those that hold for the file; link bans are no matter of one file.
func (c *checker) rules(pkg string, f *File) []rule {
	var rules []rule
	for _, b := range c.lattice.Bans {
		for _, what := range b.What {
			holds := b.On[pkg]
			if f.Test {
				holds = b.Tests || holds && c.ours(what)
			}
			if holds && !b.Link {
				rules = append(rules, rule{what, b})
			}
		}
	}
	return rules
}

// ours says whether an import path is of a package that the lattice places.
func (c *checker) ours(importPath string) bool {
	pkg, ok := strings.CutPrefix(importPath, c.lattice.Module+"/")
	return ok && c.lattice.packages[pkg] != nil
}

func (c *checker) banned(f *File, line int, act string, b Ban) {
	c.problem(f.Path, line, "%s: %s (%s:%d)", act, b.Reason, c.lattice.File, b.Line)
}

func (c *checker) file(pkg string, f *File) {
	rules := c.rules(pkg, f)
	for _, i := range f.imports() {
		n := slices.IndexFunc(rules, func(r rule) bool { return matches(r.what, i.path) })
		other, ours := strings.CutPrefix(i.path, c.lattice.Module+"/")
		switch {
		case n >= 0:
			c.banned(f, i.line, pkg+" must not import "+other, rules[n].Ban)
		case ours:
			c.internal(pkg, other, f, i.line)
		case !isStandard(i.path):
			c.external(pkg, f, i)
		}
		for _, r := range rules {
			if of, _, ok := function(r.what); ok && of == i.path && i.name == "." {
				c.problem(f.Path, i.line, "a dot import hides whether %s is used: import %q by its name", r.what, of)
			}
		}
	}
	c.body(pkg, f, rules)
}

func (c *checker) internal(pkg, other string, f *File, line int) {
	l := c.lattice
	switch {
	case l.packages[other] == nil:
		c.problem(f.Path, line, "%s imports %s, which %s does not place", pkg, other, l.File)
	case f.Test && l.testsMayImport(pkg, other):
	case f.Test:
		c.problem(f.Path, line, "the tests of %s import %s, which is above ring %s", pkg, other, l.packages[pkg].Ring)
	case l.MayImport(pkg, other):
	case l.packages[pkg].Ring == l.packages[other].Ring:
		c.problem(f.Path, line, "%s imports %s of its own ring, %s: if that is meant, %s must say \"%s < %s\"",
			pkg, other, l.packages[pkg].Ring, l.File, other, pkg)
	default:
		c.problem(f.Path, line, "%s (ring %s) imports %s (ring %s), which is not below it",
			pkg, l.packages[pkg].Ring, other, l.packages[other].Ring)
	}
}

func (c *checker) external(pkg string, f *File, i imported) {
	var best *Use
	for n, u := range c.lattice.Uses {
		if within(u.Module, i.path) && (best == nil || len(u.Module) > len(best.Module)) {
			best = &c.lattice.Uses[n]
		}
	}
	if best == nil {
		c.problem(f.Path, i.line, "%s imports %s, of a module that %s does not let in: do without it, or add a use line with its licence",
			pkg, i.path, c.lattice.File)
		return
	}
	c.used[best.Line] = true
	if !best.In[pkg] && (!f.Test || !best.Tests) {
		c.problem(f.Path, i.line, "%s is not among those that may import %s (%s:%d)", pkg, i.path, c.lattice.File, best.Line)
	}
}

// body looks for banned functions and go statements.
func (c *checker) body(pkg string, f *File, rules []rule) {
	local := map[string]string{} // package path: what the file calls it
	for _, i := range f.imports() {
		local[i.path] = i.name
	}
	banned := map[string]rule{} // as the file writes it
	for _, r := range rules {
		if of, name, ok := function(r.what); ok && local[of] != "" {
			banned[local[of]+"."+name] = r
		} else if r.what == goroutines {
			banned[goroutines] = r
		}
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if r, ok := banned[goroutines]; ok {
				c.banned(f, f.line(n.Pos()), pkg+" must not start a goroutine", r.Ban)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil { // a variable of that name
				break
			}
			if r, ok := banned[x.Name+"."+n.Sel.Name]; ok {
				c.banned(f, f.line(n.Pos()), pkg+" must not use "+r.what, r.Ban)
			}
		}
		return true
	})
}

// links follows the imports of a package that a "!<<" is on, and shows the chain to what it bans.
func (c *checker) links(pkg string) {
	for _, b := range c.lattice.Bans {
		if !b.Link || !b.On[pkg] {
			continue
		}
		for _, what := range b.What {
			if chain := c.chain(pkg, what); chain != nil {
				c.problem(pkg, 0, "must not be linked with %s: %s (%s:%d); %s", chain[len(chain)-1],
					b.Reason, c.lattice.File, b.Line, strings.Join(chain, " imports "))
			}
		}
	}
}

// chain is a shortest way from pkg over imports to what matches the pattern, nil if there is none.
func (c *checker) chain(pkg, pattern string) []string {
	from := map[string]string{pkg: ""}
	for queue := []string{pkg}; len(queue) > 0; queue = queue[1:] {
		next := queue[0]
		if next != pkg && matches(pattern, c.lattice.Module+"/"+next) {
			chain := []string{next}
			for at := from[next]; at != ""; at = from[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		if c.packages[next] == nil {
			continue
		}
		for _, other := range c.packages[next].linked(c.lattice.Module) {
			if _, seen := from[other]; !seen {
				from[other] = next
				queue = append(queue, other)
			}
		}
	}
	return nil
}
