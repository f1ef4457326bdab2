package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Package is a folder with Go files.
type Package struct {
	Dir    string // from the root of the tree, "." for the root itself
	Name   string // as the files that are no tests say
	Module string // the folder of its go.mod, "." for the product
	Files  []File
}

// File is a parsed Go file.
type File struct {
	Path string
	Test bool
	AST  *ast.File
	fset *token.FileSet
}

func (f *File) line(pos token.Pos) int { return f.fset.Position(pos).Line }

// Scan parses every Go file of the tree, in every module, but for folders that the go command
// leaves out as well: testdata, vendor and those that begin with "." or "_".
// https://pkg.go.dev/cmd/go#hdr-Package_lists_and_patterns
func Scan(tree fs.FS) ([]Package, []Problem) {
	var pkgs []Package
	var problems []Problem
	modules := map[string]string{} // folder: the folder of its module
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if skipped(d.Name()) && name != "." {
			return fs.SkipDir
		}
		modules[name] = modules[path.Dir(name)]
		if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
			modules[name] = name
		}
		pkg, found := scanPackage(tree, name)
		problems = append(problems, found...)
		if len(pkg.Files) > 0 {
			pkg.Module = modules[name]
			pkgs = append(pkgs, pkg)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{".", 0, err.Error()})
	}
	return pkgs, problems
}

func skipped(folder string) bool {
	return folder == "testdata" || folder == "vendor" || folder == "node_modules" ||
		strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

func scanPackage(tree fs.FS, dir string) (Package, []Problem) {
	pkg := Package{Dir: dir}
	entries, err := fs.ReadDir(tree, dir)
	if err != nil {
		return pkg, []Problem{{dir, 0, err.Error()}}
	}
	var problems []Problem
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.IsDir() || path.Ext(name) != ".go" || skipped(entry.Name()) {
			continue
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			problems = append(problems, Problem{name, 0, err.Error()})
			continue
		}
		f := File{Path: name, Test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
		if f.AST, err = parser.ParseFile(f.fset, name, src, parser.ParseComments); err != nil {
			problems = append(problems, Problem{name, 0, err.Error()})
			continue
		}
		pkg.Files = append(pkg.Files, f)
		if !f.Test {
			pkg.Name = f.AST.Name.Name
		}
	}
	return pkg, problems
}

// imported is one import of a file.
type imported struct {
	path string
	name string // as the file calls it, if the package is named as its folder is
	line int
}

func (f *File) imports() []imported {
	imports := make([]imported, 0, len(f.AST.Imports))
	for _, spec := range f.AST.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		i := imported{path: importPath, name: path.Base(importPath), line: f.line(spec.Pos())}
		if spec.Name != nil {
			i.name = spec.Name.Name
		}
		imports = append(imports, i)
	}
	return imports
}

// linked gives the packages of the module that the package imports outside its tests, sorted.
func (p *Package) linked(module string) []string {
	var linked []string
	for _, f := range p.Files {
		if f.Test {
			continue
		}
		for _, i := range f.imports() {
			if within(module, i.path) && i.path != module {
				linked = append(linked, strings.TrimPrefix(i.path, module+"/"))
			}
		}
	}
	slices.Sort(linked)
	return slices.Compact(linked)
}
