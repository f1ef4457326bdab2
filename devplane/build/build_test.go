package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a module that looks like devplane, with a Kubernetes of one package.
var fake = map[string]string{
	"go.mod": `module example.org/devplane

go 1.26.0

require (
	k8s.io/component-base v0.37.2
	k8s.io/kubernetes v1.37.2
)

replace (
	k8s.io/component-base => ./component-base
	k8s.io/kubernetes => ./kubernetes
)
`,
	"go.sum":                            "",
	"go.work":                           "go 1.26.0\n", // of someone who works on other modules; must not count
	"shim/cgo.go":                       "//go:build cgo\n\npackage main\n\nvar x int = \"not without cgo\"\n",
	"kubernetes/go.mod":                 "module k8s.io/kubernetes\n\ngo 1.26.0\n",
	"kubernetes/app/app.go":             "package app\n",
	"component-base/go.mod":             "module k8s.io/component-base\n\ngo 1.26.0\n",
	"component-base/version/version.go": "package version\n\nvar gitVersion, gitMajor = \"v0.0.0-master\", \"\"\n\nfunc String() string { return gitVersion + \" \" + gitMajor }\n",
	"main.go":                           "package main\n\nimport (\n\t\"os\"\n\n\t_ \"k8s.io/kubernetes/app\"\n\t\"k8s.io/component-base/version\"\n)\n\nfunc main() { os.Stdout.WriteString(version.String()) }\n",
	"shim/main.go":                      "package main\n\nfunc main() {}\n",
	"pause/main.go":                     "package main\n\nfunc main() {}\n",
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// builder builds the fake module into a cache of the test's own.
type builder struct {
	*testing.T
	source, cache string
}

func newBuilder(t *testing.T) *builder {
	t.Setenv("GOPROXY", "off")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOFLAGS", "-mod=vendor")
	b := &builder{t, t.TempDir(), t.TempDir()}
	writeFiles(t, b.source, fake)
	return b
}

func (b *builder) getenv(name string) string { return map[string]string{"BERTH_CACHE": b.cache}[name] }

func (b *builder) build() (dir, stderr string, err error) {
	var said strings.Builder
	dir, err = build(b.Context(), b.source, b.getenv, &said)
	return dir, said.String(), err
}

// entries lists what is in the cache besides the lock.
func (b *builder) entries() []string {
	b.Helper()
	entries, err := os.ReadDir(filepath.Join(b.cache, "devplane"))
	if err != nil {
		b.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestBuild(t *testing.T) {
	b := newBuilder(t)
	first, stderr, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"compiling Kubernetes v1.37.2 from source", "built in"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the build said nothing of %q:\n%s", want, stderr)
		}
	}
	out, err := exec.Command(filepath.Join(first, "devplane")).Output()
	if err != nil || string(out) != "v1.37.2 1" {
		t.Errorf("the program has version %q (%v), want %q", out, err, "v1.37.2 1")
	}

	// The same again compiles nothing; a test file does not count.
	writeFiles(t, b.source, map[string]string{"main_test.go": "package main\n"})
	second, stderr, err := b.build()
	if err != nil || second != first || stderr != "" {
		t.Errorf("second build: %q, %v, said %q; want %q and silence", second, err, stderr, first)
	}

	// A folder that lacks a program is not used.
	if err := os.Remove(filepath.Join(first, "shim")); err != nil {
		t.Fatal(err)
	}
	if dir, _, err := b.build(); err != nil || dir != first || !complete(first) {
		t.Errorf("build over an incomplete folder: %q, %v, complete: %v", dir, err, complete(first))
	}

	// Another source is another folder.
	writeFiles(t, b.source, map[string]string{"pause/main.go": "package main\n\nfunc main() { select {} }\n"})
	if third, _, err := b.build(); err != nil || third == first {
		t.Errorf("build of a changed source: %q, %v; first was %q", third, err, first)
	}
}

func TestBuildFails(t *testing.T) {
	b := newBuilder(t)
	writeFiles(t, b.source, map[string]string{"shim/main.go": "package main\n\nfunc main() { undefined() }\n"})
	_, _, err := b.build()
	if err == nil || !strings.Contains(err.Error(), "shim/main.go:3:15: undefined: undefined") {
		t.Errorf("error without the compiler's words: %v", err)
	}
	if left := b.entries(); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestBuildExplains(t *testing.T) {
	t.Run("no module", func(t *testing.T) {
		b := newBuilder(t)
		b.source = t.TempDir()
		wantError(t, b, "run: go -C devplane run ./build")
	})
	t.Run("no Kubernetes", func(t *testing.T) {
		b := newBuilder(t)
		writeFiles(t, b.source, map[string]string{"go.mod": "module m\n"})
		wantError(t, b, "no k8s.io/kubernetes")
	})
	t.Run("no Go", func(t *testing.T) {
		b := newBuilder(t)
		t.Setenv("PATH", t.TempDir())
		wantError(t, b, "install Go 1.26")
	})
	t.Run("no cache", func(t *testing.T) {
		b := newBuilder(t)
		b.cache = filepath.Join(b.source, "go.mod") // no folder
		wantError(t, b, "set BERTH_CACHE to a folder that can be written")
	})
}

func wantError(t *testing.T, b *builder, want string) {
	t.Helper()
	if _, _, err := b.build(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// Of two builds at once the second says that it waits, and then uses what the first made.
func TestSecondBuildWaits(t *testing.T) {
	b := newBuilder(t)
	dir, _, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	c := cache(filepath.Dir(dir))
	unlock, err := c.lock(t.Context(), func() { t.Error("the lock was not free") })
	if err != nil {
		t.Fatal(err)
	}
	if again, stderr, err := b.build(); again != dir || stderr != "" || err != nil {
		t.Errorf("a whole folder was not used at once: %q, %v, said %q", again, err, stderr)
	}
	aside := filepath.Join(b.cache, "aside")
	if err := os.Rename(dir, aside); err != nil {
		t.Fatal(err)
	}
	said := make(lines, 10)
	type result struct {
		dir string
		err error
	}
	second := make(chan result)
	go func() {
		dir, err := build(t.Context(), b.source, b.getenv, said)
		second <- result{dir, err}
	}()
	if line := <-said; !strings.Contains(line, "waiting for it to end") {
		t.Errorf("the second build said %q", line)
	}
	if err := os.Rename(aside, dir); err != nil {
		t.Fatal(err)
	}
	unlock()
	if r := <-second; r.err != nil || r.dir != dir {
		t.Errorf("second build: %+v, want %q", r, dir)
	}
	if len(said) > 0 {
		t.Errorf("the second build compiled: %q", <-said)
	}
}

// lines is a writer that hands on what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestWaitingCanBeInterrupted(t *testing.T) {
	c := cache(t.TempDir())
	unlock, err := c.lock(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.lock(ctx, cancel); err != context.Canceled {
		t.Errorf("lock: %v, want %v", err, context.Canceled)
	}
}
