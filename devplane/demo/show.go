package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// toolchain is what the pipeline has to know of this machine's Go.
type toolchain struct{ GOROOT, GOCACHE, GOMODCACHE string }

// prepare builds berth into dir and downloads the modules that its tests need, so that the pipeline
// finds both in Go's caches and needs no network.
func prepare(ctx context.Context, root, dir string, out io.Writer) (toolchain, error) {
	var tool toolchain
	fmt.Fprintln(out, "$ go build ./cmd/berth")
	if _, err := golang(ctx, root, out, "build", "-o", filepath.Join(dir, "berth"), "./cmd/berth"); err != nil {
		return tool, err
	}
	if _, err := golang(ctx, root, out, "list", "-deps", "-test", "./internal/..."); err != nil {
		return tool, err
	}
	text, err := golang(ctx, root, out, "env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE")
	if err != nil {
		return tool, err
	}
	return tool, json.Unmarshal(text, &tool)
}

func golang(ctx context.Context, root string, out io.Writer, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = root, out
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return text, nil
}

// visible gives a folder with the repository that pods on process nodes see: each has a /tmp of its own, so
// one that lies there is copied.
func visible(ctx context.Context, root string) (repo string, remove func(), err error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", nil, err
	}
	if !strings.HasPrefix(real, "/tmp/") {
		return root, func() {}, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp(cache, "berth-demo-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	repo = filepath.Join(dir, "berth.git")
	out, err := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "clone", "--quiet", "--bare", real, repo).CombinedOutput()
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("the repository could not be copied: %w\n%s", err, out)
	}
	return repo, remove, nil
}

// show runs what the demo consists of, and stops at the first thing that is not as expected.
func show(s *shell, tool toolchain) error {
	fmt.Fprintf(s.out, "\n$ export BERTH_OPERATOR=%s\n", operator)
	s.say("Which nodes steps with these profiles can land on.")
	s.run(0, `\bon general-arm64-0`, "check", "--nodes", nodes, "--profiles", "general,arm64")

	s.say("A pipeline: clone this repository, vet it, test it on two architectures, build it.")
	repo, remove, err := visible(s.ctx, s.root)
	if err != nil {
		return err
	}
	defer remove()
	text := s.run(0, `digest=sha256:`, "run", "examples/demo/pipeline.yaml", "--param", "repo="+repo,
		"--param", "goroot="+tool.GOROOT, "--param", "gocache="+tool.GOCACHE, "--param", "modcache="+tool.GOMODCACHE)
	id := regexp.MustCompile(`berth: run (\S+) of`).FindStringSubmatch(text)

	s.say("A run that the operator's rules refuse: raw fields, and no environment that permits them.")
	s.run(3, `k8s_overlay needs an environment`, "run", "devplane/demo/refused.yaml")

	s.say("A run that waits: the reserved nodes are scaled to zero. It gives up after 12 seconds.")
	s.run(1, `waits: 0/\d+ nodes are available`, "run", "examples/demo/waiting.yaml")

	if s.err == nil && id == nil {
		return errors.New("berth run did not say the run's id")
	}
	if s.err == nil {
		s.say("Where each value of the arm64 test's pod came from.")
		s.only = regexp.MustCompile(`^(PATH|containers\[step\]\.resources|nodeSelector|tolerations)`)
		s.run(0, `profile:arm64`, "show", id[1], "test (arm64)")
	}
	return s.err
}

// shell runs berth, and nothing any more once something was not as expected.
type shell struct {
	ctx         context.Context
	out         io.Writer
	root, berth string
	env         []string
	only        *regexp.Regexp // the lines to show of what berth prints; nil is all, as they come
	err         error
}

func (s *shell) say(text string) {
	if s.err == nil {
		fmt.Fprintf(s.out, "\n# %s\n", text)
	}
}

// limit is how long one command may take. The pipeline's own timeout is shorter.
const limit = 16 * time.Minute

// run runs berth and returns what it printed. It must end with the exit code, and what it prints must
// match the pattern.
func (s *shell) run(code int, pattern string, args ...string) string {
	if s.err != nil {
		return ""
	}
	line := "$ berth " + typed(args)
	if s.only != nil {
		line += fmt.Sprintf(" | grep -E '%s'", s.only)
	}
	fmt.Fprintln(s.out, line)
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	var text bytes.Buffer
	cmd := exec.CommandContext(ctx, s.berth, args...)
	cmd.Dir, cmd.Stdout = s.root, io.MultiWriter(s.out, &text)
	if s.only != nil {
		cmd.Stdout = &text
	}
	cmd.Stderr = cmd.Stdout
	cmd.Env = append(os.Environ(), s.env...)
	// One interrupt, from here, cancels the run. A second one, from the terminal, would cut it short.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	for shown := range strings.Lines(text.String()) {
		if s.only != nil && s.only.MatchString(shown) {
			fmt.Fprint(s.out, shown)
		}
	}
	var exit *exec.ExitError
	switch {
	case s.ctx.Err() != nil:
		s.err = errors.New("interrupted")
	case err != nil && !errors.As(err, &exit):
		s.err = err
	case cmd.ProcessState.ExitCode() != code:
		s.err = fmt.Errorf("berth %s: exit code %d, expected %d", args[0], cmd.ProcessState.ExitCode(), code)
	case !regexp.MustCompile(pattern).Match(text.Bytes()):
		s.err = fmt.Errorf("berth %s printed nothing like %q", args[0], pattern)
	case code != 0:
		fmt.Fprintf(s.out, "(exit code %d, as expected)\n", code)
	}
	return text.String()
}

// typed is a command line as a user would type it.
func typed(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		if words[i] = arg; strings.ContainsAny(arg, " ()") {
			words[i] = `"` + arg + `"`
		}
	}
	return strings.Join(words, " ")
}
