package archtest

import (
	_ "embed"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:generate go test . -run TestArchitectureTable -update

var update = flag.Bool("update", false, "write the table of packages into ARCHITECTURE.md")

const (
	root        = "../.."
	latticeFile = "internal/archtest/lattice.txt"
	document    = root + "/ARCHITECTURE.md"
)

//go:embed lattice.txt
var latticeText string

// sources are read through the os package by this process, or the test cache would not notice
// that one has changed.
func sources(t *testing.T) (*Lattice, []Package) {
	t.Helper()
	lattice, problems := ParseLattice(latticeFile, latticeText)
	report(t, problems)
	if len(problems) > 0 {
		t.FailNow()
	}
	pkgs, problems := Scan(os.DirFS(root))
	report(t, problems)
	return lattice, pkgs
}

func report(t *testing.T, problems []Problem) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

func TestImports(t *testing.T) {
	lattice, pkgs := sources(t)
	report(t, CheckImports(lattice, pkgs))
}

func TestDocs(t *testing.T) {
	_, pkgs := sources(t)
	report(t, CheckDocs(pkgs))
	modules := map[string]bool{}
	for _, pkg := range pkgs {
		modules[pkg.Module] = true
	}
	for _, module := range []string{".", "devplane"} {
		if !modules[module] {
			t.Errorf("no packages of the module in %s were looked at", module)
		}
	}
}

// A ban on a package that isn't there, since its name is misspelt, bans nothing.
func TestBannedExist(t *testing.T) {
	lattice, _ := sources(t)
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range lattice.Bans {
		for _, what := range b.What {
			if of, _, ok := function(what); ok {
				what = of
			}
			if what == goroutines || what == "C" || !isStandard(what) {
				continue
			}
			if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(goroot)), "src", what)); err != nil {
				t.Errorf("%s:%d: %q is no package of the standard library", latticeFile, b.Line, what)
			}
		}
	}
}

func TestArchitectureTable(t *testing.T) {
	lattice, pkgs := sources(t)
	have, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReplaceTable(string(have), lattice, pkgs)
	if err != nil {
		t.Fatalf("ARCHITECTURE.md: %v", err)
	}
	if want == string(have) {
		return
	}
	if !*update {
		t.Fatal("ARCHITECTURE.md: the table of packages is not what lattice.txt and the sources say: make generate")
	}
	if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
