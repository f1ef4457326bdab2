package process

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// prepareGroup makes the command of a task that has no namespaces.
func (t *task) prepareGroup() error {
	cmd, _ := groupCommand(t.spec)
	t.cmd = cmd
	return cmd.Err
}

// groupCommand is a command in a process group of its own, and how to start it. A command that is
// not found is in its Err.
func groupCommand(spec *shimspec.Spec) (*exec.Cmd, func() error) {
	path, err := lookPath(spec)
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	cmd := &exec.Cmd{Path: path, Args: spec.Argv, Env: spec.Env, Dir: spec.Dir, Err: err, SysProcAttr: attr}
	return cmd, cmd.Start
}

// lookPath finds a command on the PATH of a container instead of this process's.
func lookPath(spec *shimspec.Spec) (string, error) {
	name := spec.Argv[0]
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	if strings.Contains(name, "/") {
		return exec.LookPath(filepath.Join(spec.Dir, name))
	}
	for _, kv := range spec.Env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path, err := exec.LookPath(filepath.Join(dir, name))
			if err == nil {
				return path, nil
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// killGroup kills what is left of a task's process group. With namespaces there is nothing.
func (t *task) killGroup() {
	if t.cmd.SysProcAttr.Setpgid && t.cmd.Process != nil {
		syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	}
}
