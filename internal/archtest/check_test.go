package archtest

import (
	"testing"
	"testing/fstest"
)

// testLattice is small, and has a rule of each kind.
const testLattice = `module h.org/m
ring words
	word    x
	reason  x
ring core
	plan    x
	run     x
ring kit
	kit     x
ring shells
	engine  x
	server  x
	quiet   x
words < core < shells
core < kit < tests
plan < run
engine !< server: the store is between
os, net/... !< words, core: no I/O
time.Now, goroutines !< core: no clock
k8s.io/kubernetes/..., h.org/m/dev/... !< all, tests: not in the product
engine !<< quiet: read only
use lib.org/yaml MIT in plan: reads
use lib.org/cmp BSD in tests: compares
use lib.org/yaml/v9 MIT in run: reads newer
`

// The lines of testLattice that the bans are on, as problems cite them.
const (
	banServer  = "the store is between (lattice:17)"
	banIO      = "no I/O (lattice:18)"
	banClock   = "no clock (lattice:19)"
	banProduct = "not in the product (lattice:20)"
	banQuiet   = "read only (lattice:21)"
)

func TestCheckImports(t *testing.T) {
	uses := map[string]string{ // what keeps the use lines from being reported as unused
		"plan/uses.go":      `package plan; import _ "lib.org/yaml"`,
		"plan/uses_test.go": `package plan; import _ "lib.org/cmp/cmpopts"`,
		"run/uses.go":       `package run; import _ "lib.org/yaml/v9/node"`,
	}
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing but uses", nil, nil},
		{"all that is allowed", map[string]string{
			"go.mod":             "module h.org/m",
			"word/a.go":          `package word; import "strings"`,
			"plan/a.go":          `package plan; import ("h.org/m/word"; "lib.org/yaml/v4"; "time")`,
			"run/a.go":           `package run; import "h.org/m/plan"`,
			"run/a_test.go":      `package run; import ("os"; "lib.org/cmp"; "h.org/m/kit")`,
			"plan/b_test.go":     `package plan_test; import ("h.org/m/plan"; "h.org/m/run"; "h.org/m/word")`,
			"kit/a.go":           `package kit; import "h.org/m/run"`,
			"engine/a.go":        `package engine; import ("h.org/m/run"; "os"; "time"); var t = time.Now()`,
			"engine/b.go":        `package engine; func f() { go f() }`,
			"quiet/a.go":         `package quiet; import "h.org/m/run"`,
			"dev/go.mod":         `module h.org/m/dev`,
			"dev/a.go":           `package dev; import "k8s.io/kubernetes/cmd"`,
			"word/testdata/a.go": `package broken; import "os"`,
			"_x/a.go":            `package x`,
			".x/a.go":            `package x`,
		}, nil},
		{"unplaced", map[string]string{"other/a.go": `package other`},
			[]string{`other: a package that lattice does not place: add it to the ring`}},
		{"unplaced, tests only", map[string]string{"other/a_test.go": `package other`},
			[]string{`other: a package that lattice does not place`}},
		{"unplaced import", map[string]string{"engine/a.go": `package engine; import "h.org/m/other"`},
			[]string{`engine/a.go:1: engine imports other, which lattice does not place`}},
		{"upwards", map[string]string{"word/a.go": "package word\n\nimport \"h.org/m/plan\""},
			[]string{`word/a.go:3: word (ring words) imports plan (ring core), which is not below it`}},
		{"sideways", map[string]string{"plan/a.go": `package plan; import "h.org/m/run"`},
			[]string{`plan/a.go:1: plan imports run of its own ring, core: if that is meant, lattice must say "run < plan"`}},
		{"test kit in a source", map[string]string{"engine/a.go": `package engine; import "h.org/m/kit"`},
			[]string{`engine/a.go:1: engine (ring shells) imports kit (ring kit), which is not below it`}},
		{"test upwards", map[string]string{"word/a_test.go": `package word; import "h.org/m/plan"`},
			[]string{`word/a_test.go:1: the tests of word import plan, which is above ring words`}},
		{"ban", map[string]string{"server/a.go": `package server; import "h.org/m/engine"`},
			[]string{`server/a.go:1: server must not import engine: ` + banServer}},
		{"ban in a test", map[string]string{"server/a_test.go": `package server; import "h.org/m/engine"`},
			[]string{`server/a_test.go:1: server must not import engine: ` + banServer}},
		{"ban of others", map[string]string{"word/a.go": `package word; import ("os"; "net/http"; "network")`},
			[]string{`word/a.go:1: word must not import os: ` + banIO, `word/a.go:1: word must not import net/http: ` + banIO}},
		{"ban of other modules", map[string]string{
			"engine/a.go":      `package engine; import "k8s.io/kubernetes/pkg/x"`,
			"engine/a_test.go": `package engine; import "h.org/m/dev/x"`,
		}, []string{
			`engine/a.go:1: engine must not import k8s.io/kubernetes/pkg/x: ` + banProduct,
			`engine/a_test.go:1: engine must not import dev/x: ` + banProduct,
		}},
		{"function", map[string]string{"run/a.go": "package run\nimport \"time\"\nvar t = time.Now()\nvar d time.Duration"},
			[]string{`run/a.go:3: run must not use time.Now: ` + banClock}},
		{"function of a renamed import", map[string]string{"run/a.go": "package run; import clock \"time\"\nvar t = clock.Now"},
			[]string{`run/a.go:2: run must not use time.Now: ` + banClock}},
		{"function of a dot import", map[string]string{"run/a.go": `package run; import . "time"`},
			[]string{`run/a.go:1: a dot import hides whether time.Now is used`}},
		{"variable named like the import", map[string]string{
			"run/a.go": `package run; import "time"; type c struct{}; func (c) Now() {}; func f(time c) { time.Now() }; var _ time.Time`,
		}, nil},
		{"function in a test", map[string]string{"run/a_test.go": `package run; import "time"; var t = time.Now()`}, nil},
		{"goroutine", map[string]string{"run/a.go": "package run\nfunc f() {\n\tgo f()\n}"},
			[]string{`run/a.go:3: run must not start a goroutine: ` + banClock}},
		{"goroutine in a test", map[string]string{"run/a_test.go": `package run; func f() { go f() }`}, nil},
		{"unknown module", map[string]string{"run/a.go": `package run; import "lib.org/other"`},
			[]string{`run/a.go:1: run imports lib.org/other, of a module that lattice does not let in`}},
		{"module not for this package", map[string]string{"run/a.go": `package run; import "lib.org/yaml"`},
			[]string{`run/a.go:1: run is not among those that may import lib.org/yaml (lattice:22)`}},
		{"test module in a source", map[string]string{"run/a.go": `package run; import "lib.org/cmp"`},
			[]string{`run/a.go:1: run is not among those that may import lib.org/cmp (lattice:23)`}},
		{"module of a longer name", map[string]string{"plan/a.go": `package plan; import "lib.org/yamlish"`},
			[]string{`plan/a.go:1: plan imports lib.org/yamlish, of a module that lattice does not let in`}},
		{"unused module", map[string]string{"plan/uses.go": `package plan`},
			[]string{`lattice:22: nothing imports lib.org/yaml: remove the line`}},
		{"linked through others", map[string]string{
			"quiet/a.go":     `package quiet; import "h.org/m/run"`,
			"run/a.go":       `package run; import "h.org/m/engine"`,
			"engine/a.go":    `package engine`,
			"run/b_test.go":  `package run; import "h.org/m/plan"`,
			"plan/b_test.go": `package plan; import "h.org/m/plan"`,
		}, []string{
			`quiet: must not be linked with engine: ` + banQuiet + `; quiet imports run imports engine`,
			`run/a.go:1: run (ring core) imports engine (ring shells)`,
		}},
		{"linked in tests only", map[string]string{
			"quiet/a.go":      `package quiet`,
			"quiet/a_test.go": `package quiet; import "h.org/m/engine"`,
		}, nil},
	}
	lattice := parse(t, testLattice)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{}
			for _, more := range []map[string]string{uses, test.files} {
				for name, text := range more {
					files[name] = text
				}
			}
			pkgs, problems := Scan(tree(files))
			compare(t, append(problems, CheckImports(lattice, pkgs)...), test.want)
		})
	}
}

func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module h.org/m")}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestScanReportsWhatItCannotRead(t *testing.T) {
	_, problems := Scan(tree(map[string]string{"a/a.go": "package", "b/b.go": "package b; import", "c/c.go": "package c"}))
	compare(t, problems, []string{"a/a.go: ", "b/b.go: "})
}

func TestCheckDocs(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"documented", map[string]string{
			"a/doc.go":        "// Package a does.\npackage a",
			"a/a.go":          "package a",
			"dev/go.mod":      "module h.org/m/dev",
			"dev/main.go":     "// Command dev does.\npackage main",
			"dev/b/b.go":      "/*\nPackage bee does.\n*/\npackage bee",
			"e/doc.go":        "// Package e\n// does.\npackage e",
			"e/e_test.go":     "package e_test",
			"a/testdata/a.go": "package x",
		}, nil},
		{"none", map[string]string{"a/a.go": "package a"},
			[]string{`a: no file but tests has a package comment that begins with "Package a"`}},
		{"in another module", map[string]string{"dev/go.mod": "", "dev/cmd/x/main.go": "// x does.\npackage main"},
			[]string{`dev/cmd/x: no file but tests has a package comment that begins with "Command x"`}},
		{"of another name", map[string]string{"a/a.go": "// Package ab does.\npackage a"},
			[]string{`a: no file but tests`}},
		{"not adjacent", map[string]string{"a/a.go": "// Package a does.\n\npackage a"},
			[]string{`a: no file but tests`}},
		{"in a test", map[string]string{"a/a.go": "package a", "a/a_test.go": "// Package a does.\npackage a"},
			[]string{`a: no file but tests`}},
		{"tests only", map[string]string{"a/a_test.go": "// Package a does.\npackage a"},
			[]string{`a: no file but tests`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pkgs, problems := Scan(tree(test.files))
			compare(t, append(problems, CheckDocs(pkgs)...), test.want)
		})
	}
}

func TestReplaceTable(t *testing.T) {
	lattice := parse(t, `module h.org/m
ring words
	a  says
ring core
	b  decides
	c  does
words < core
b < c
use lib.org/yaml MIT in c: reads
`)
	pkgs, _ := Scan(tree(map[string]string{"b/b.go": "package b", "a/go.mod": "", "a/a.go": "package a"}))
	got, err := ReplaceTable("before\n"+tableBegin+"old\n"+tableEnd+"after\n", lattice, pkgs)
	want := "before\n" + tableBegin + `| ring | package | promise | may import |
|---|---|---|---|
| **words** | ` + "`a`" + ` (planned) | says | standard library only |
| **core** | ` + "`b`" + ` | decides | words |
|  | ` + "`c`" + ` (planned) | does | words, ` + "`b`, `lib.org/yaml`" + ` |
` + tableEnd + "after\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, got, want)
	}
	if _, err := ReplaceTable("no table", lattice, pkgs); err == nil {
		t.Error("a document without a place for the table was accepted")
	}
}
