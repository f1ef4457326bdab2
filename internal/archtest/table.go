package archtest

import (
	"fmt"
	"strings"
)

// The table of packages stands between these lines of ARCHITECTURE.md.
const (
	tableBegin = "<!-- lattice: begin. Made from internal/archtest/lattice.txt by `make generate`. -->\n"
	tableEnd   = "<!-- lattice: end -->\n"
)

// ReplaceTable returns the document with the table of packages as the lattice has it.
func ReplaceTable(document string, l *Lattice, pkgs []Package) (string, error) {
	before, rest, ok := strings.Cut(document, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("no lines %q and %q to put the table between", tableBegin, tableEnd)
	}
	return before + tableBegin + Table(l, pkgs) + tableEnd + after, nil
}

// Table is the lattice as a Markdown table. Packages that do not exist yet are marked.
func Table(l *Lattice, pkgs []Package) string {
	exists := map[string]bool{}
	for _, pkg := range pkgs {
		exists[pkg.Dir] = pkg.Module == "."
	}
	var b strings.Builder
	b.WriteString("| ring | package | promise | may import |\n|---|---|---|---|\n")
	for _, ring := range l.Rings {
		for i, pkg := range ring.Packages {
			name, heading := "`"+pkg.Path+"`", ""
			if !exists[pkg.Path] {
				name += " (planned)"
			}
			if i == 0 {
				heading = "**" + ring.Name + "**"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", heading, name, pkg.Promise, mayImport(l, pkg.Path))
		}
	}
	return b.String()
}

// mayImport names whole rings where it can, then packages, then modules of others.
func mayImport(l *Lattice, pkg string) string {
	var rings, packages, modules []string
	for _, ring := range l.Rings {
		var some []string
		for _, other := range ring.Packages {
			if l.MayImport(pkg, other.Path) {
				some = append(some, "`"+other.Path+"`")
			}
		}
		if len(some) == len(ring.Packages) {
			rings = append(rings, ring.Name)
		} else {
			packages = append(packages, some...)
		}
	}
	for _, u := range l.Uses {
		if u.In[pkg] {
			modules = append(modules, "`"+u.Module+"`")
		}
	}
	list := append(append(rings, packages...), modules...)
	if len(list) == 0 {
		return "standard library only"
	}
	return strings.Join(list, ", ")
}
