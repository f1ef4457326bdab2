package archtest

import (
	"fmt"
	"path"
	"strings"
)

// CheckDocs holds every package, of whatever module, to a doc comment that begins as godoc wants
// it: "Package NAME", or "Command FOLDER" for a program. https://go.dev/doc/comment#package
func CheckDocs(pkgs []Package) []Problem {
	var problems []Problem
	for _, pkg := range pkgs {
		if want := docBegins(pkg); !documented(pkg, want) {
			problems = append(problems, Problem{pkg.Dir, 0, fmt.Sprintf(
				"no file but tests has a package comment that begins with %q: write what the package promises", want)})
		}
	}
	return problems
}

func docBegins(pkg Package) string {
	switch pkg.Name {
	case "main":
		return "Command " + path.Base(pkg.Dir)
	case "": // tests only
		return "Package " + path.Base(pkg.Dir)
	default:
		return "Package " + pkg.Name
	}
}

func documented(pkg Package, begins string) bool {
	for _, f := range pkg.Files {
		if f.Test || f.AST.Doc == nil {
			continue
		}
		rest, ok := strings.CutPrefix(f.AST.Doc.Text(), begins)
		if ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\n")) {
			return true
		}
	}
	return false
}
