package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestParseGoMod(t *testing.T) {
	for text, want := range map[string]string{
		"module m\n\nrequire k8s.io/kubernetes v1.37.2\n":                                            "m v1.37.2 1 37",
		"module m/n // x\nrequire (\n\tk8s.io/kube v0.1.0\n\tk8s.io/kubernetes v1.38.0-rc.1 // y\n)": "m/n v1.38.0-rc.1 1 38",
		"module m\nreplace k8s.io/kubernetes => ./x\n":                                               "",
		"require k8s.io/kubernetes v1.37.2\n":                                                        "",
		"module m\nrequire example.org/k8s.io/kubernetes v1.37.2\n":                                  "",
	} {
		m, err := parseGoMod(text)
		got := ""
		if err == nil {
			got = strings.Join([]string{m.path, m.kubernetes, m.major, m.minor}, " ")
		}
		if got != want {
			t.Errorf("%q: %q (%v), want %q", text, got, err, want)
		}
	}
}

func TestBuildArgs(t *testing.T) {
	m, err := parseGoMod(fake["go.mod"])
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(m.buildArgs(), "\n")
	for _, want := range []string{
		"-trimpath\n", "-buildvcs=false\n", "-ldflags=-s -w ",
		"-X=k8s.io/component-base/version.gitVersion=v1.37.2", "-X=k8s.io/component-base/version.gitMinor=37",
		"-X=k8s.io/client-go/pkg/version.gitVersion=v1.37.2", "-X=k8s.io/client-go/pkg/version.gitMajor=1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// base is the tree that the cases of TestKey change.
func base() map[string]string {
	return map[string]string{
		"go.mod": "module m", "go.sum": "x", "main.go": "package main", "a/a.go": "package a\n\n//go:embed x.yaml \"d\" all:e/*.txt\nvar f string",
		"a/x.yaml": "x", "a/d/y": "y", "a/e/z.txt": "z", "a/README": "r", "a/a_test.go": "package a", "a/testdata/b.go": "package b",
		"build/main.go": "package main", "demo/main.go": "package main", "a/demo/d.go": "package demo", "n/go.mod": "module n", "n/n.go": "package n",
		".x/x.go": "package x", "_y/y.go": "package y",
	}
}

func keyOf(t *testing.T, files map[string]string, recipe ...string) string {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	k, err := key(tree, recipe)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKey(t *testing.T) {
	before := keyOf(t, base(), "r")
	if len(before) != 20 {
		t.Errorf("key %q", before)
	}
	for name := range base() {
		counts := slices.Contains([]string{
			"go.mod", "go.sum", "main.go", "a/a.go", "a/x.yaml", "a/d/y", "a/e/z.txt", "a/demo/d.go",
		}, name)
		files := base()
		files[name] += "\n// changed"
		if changed := keyOf(t, files, "r") != before; changed != counts {
			t.Errorf("a change of %s changes the key: %v, want %v", name, changed, counts)
		}
	}
	renamed := base()
	renamed["a/b.go"] = renamed["a/a.go"]
	delete(renamed, "a/a.go")
	if keyOf(t, renamed, "r") == before {
		t.Error("a file's name does not count")
	}
	if keyOf(t, base(), "r", "s") == before || keyOf(t, base(), "rs") == keyOf(t, base(), "r", "s") {
		t.Error("the recipe does not count")
	}
}

func TestProgress(t *testing.T) {
	p := &progress{module: module{path: "m", kubernetes: "v1.37.2"}}
	step := func(line, want string) {
		t.Helper()
		p.line(line)
		if got := p.status(72400 * time.Millisecond); got != want {
			t.Errorf("after %q: %q, want %q", line, got, want)
		}
	}
	step("", "listing packages, 1m12s")
	step("go: downloading k8s.io/api v0.37.2", "downloading modules: 1 so far, 1m12s")
	step("go: downloading k8s.io/kubernetes v1.37.2", "downloading modules: 2 so far, 1m12s")
	p.packages = map[string]bool{"m": true, "m/shim": true, "k8s.io/api/core/v1": true, "unsafe": true}
	step("", "looking for what is compiled already, 1m12s")
	step("m/shim", "1 of at most 4 packages compiled, 1m12s")
	step("k8s.io/api/core/v1", "2 of at most 4 packages compiled, 1m12s")
	step("# k8s.io/api/core/v1", "2 of at most 4 packages compiled, 1m12s")
	step("types.go:3:1: oh no", "2 of at most 4 packages compiled, 1m12s")
	step("m", "all compiled, linking, 1m12s")

	err := p.failure(errors.New("exit status 1"), "/cache", "/gocache").Error()
	if !strings.HasSuffix(err, "# k8s.io/api/core/v1\ntypes.go:3:1: oh no") {
		t.Errorf("failure: %s", err)
	}
	p.line("mkdir /tmp/x: no space left on device")
	err = p.failure(errors.New("exit status 1"), "/cache", "/gocache").Error()
	if !strings.Contains(err, "a disk is full") || !strings.Contains(err, "/gocache") {
		t.Errorf("failure on a full disk: %s", err)
	}
}

func TestOpenCache(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"BERTH_CACHE": dir + "/a", "XDG_CACHE_HOME": dir + "/b", "HOME": dir}, dir + "/a/devplane"},
		{map[string]string{"XDG_CACHE_HOME": dir + "/b", "HOME": dir}, dir + "/b/berth/devplane"},
		{map[string]string{"HOME": dir}, dir + "/.cache/berth/devplane"},
		{nil, ""},
	}
	for _, test := range tests {
		c, err := openCache(func(name string) string { return test.env[name] })
		if string(c) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%v: %q, %v; want %q", test.env, c, err, test.want)
		}
	}
}

func TestPruneKeepsTheLastUsed(t *testing.T) {
	c := cache(t.TempDir())
	for name, minutes := range map[string]int{"new": 1, "oldest": 50, "third": 3, "old": 40, "second": 2, tempPrefix + "left": 0} {
		if err := os.MkdirAll(filepath.Join(c.entry(name), "x"), 0o755); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-time.Duration(minutes) * time.Minute)
		if err := os.Chtimes(c.entry(name), then, then); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, string(c), map[string]string{"lock": ""})
	touch(c.entry("old"))
	c.prune()
	var left []string
	entries, _ := os.ReadDir(string(c))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"lock", "new", "old", "second"}; !slices.Equal(left, want) {
		t.Errorf("left: %q, want %q", left, want)
	}
}

func TestFillIsAllOrNothing(t *testing.T) {
	c := cache(t.TempDir())
	whole := map[string]string{"devplane": "x", "shim": "x", "pause": "x"}
	err := c.fill("key", func(temp string) error {
		writeFiles(t, temp, map[string]string{"devplane": "x", "shim": "x", "pause": ""})
		return nil
	})
	if err == nil || complete(c.entry("key")) {
		t.Errorf("half a build was kept (%v)", err)
	}
	err = c.fill("key", func(temp string) error {
		writeFiles(t, temp, whole)
		return errors.New("late")
	})
	if err == nil || complete(c.entry("key")) {
		t.Errorf("a failed build was kept (%v)", err)
	}
	err = c.fill("key", func(temp string) error {
		writeFiles(t, temp, whole)
		return nil
	})
	if err != nil || !complete(c.entry("key")) {
		t.Errorf("a whole build was not kept: %v", err)
	}
	if entries, _ := os.ReadDir(string(c)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
