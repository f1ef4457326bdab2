package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// compile builds the programs into dir, and shows how far it is.
func compile(ctx context.Context, source, dir string, m module, stderr io.Writer) error {
	p := &progress{module: m}
	show := newDisplay(stderr, p)
	err := runGo(ctx, source, dir, p, show)
	show.close(err == nil)
	switch {
	case err == nil || ctx.Err() != nil || !errors.As(err, new(*exec.ExitError)):
		return err
	default:
		goCache, _ := goCommand(ctx, source, "env", "GOCACHE").Output()
		return p.failure(err, filepath.Dir(dir), strings.TrimSpace(string(goCache)))
	}
}

func runGo(ctx context.Context, source, dir string, p *progress, show *display) error {

	var targets []string
	for _, t := range programs {
		targets = append(targets, t.pkg)
	}
	list := goCommand(ctx, source, append([]string{"list", "-deps"}, targets...)...)
	out, err := watch(list, show)
	if err != nil {
		return err
	}
	show.update(func() {
		p.packages = map[string]bool{}
		for pkg := range strings.FieldsSeq(out) {
			p.packages[pkg] = true
		}
	})
	args := append([]string{"build", "-v", "-o", dir + string(filepath.Separator)}, p.module.buildArgs()...)
	_, err = watch(goCommand(ctx, source, append(args, targets...)...), show)
	return err
}

// watch runs a go command, feeds what it says to the display and returns its output.
func watch(cmd *exec.Cmd, show *display) (stdout string, err error) {
	var out strings.Builder
	cmd.Stdout = &out
	said, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		show.update(func() { show.progress.line(strings.TrimSuffix(line, "\n")) })
		if err != nil {
			break // the command has ended; Wait says how
		}
	}
	return out.String(), cmd.Wait()
}
