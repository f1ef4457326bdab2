//go:build !linux

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// thisPlatform is what this machine allows to this process.
func thisPlatform() platform { return platform{uid: int64(os.Geteuid())} }

// dieWithParent does nothing: that exists on Linux only.
func dieWithParent(*syscall.SysProcAttr) {}

func (r *Runtime) prepare(t *task) error { return t.prepareGroup() }

func (r *Runtime) execute(t *task) error { return t.cmd.Start() }

// inside makes a command that runs beside a container, and how to start it.
func (r *Runtime) inside(t *task, argv []string) (*exec.Cmd, func() error) {
	spec := *t.spec
	spec.Argv = argv
	return groupCommand(&spec)
}
