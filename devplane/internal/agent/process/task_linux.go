package process

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// thisPlatform is what this machine allows to this process.
func thisPlatform() platform {
	return platform{namespaces: os.Geteuid() == 0, uid: int64(os.Geteuid())}
}

// dieWithParent makes a process die when this one does, however it does.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// prepare makes the command of a task.
func (r *Runtime) prepare(t *task) error {
	if !r.on.namespaces {
		return t.prepareGroup()
	}
	t.cmd = &exec.Cmd{
		Path: r.cfg.Shim, Args: []string{r.cfg.Shim, shimspec.VerbRun}, Env: []string{}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{
			Setsid:     true,
			Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS,
			Pdeathsig:  syscall.SIGKILL,
		},
	}
	return nil
}

// execute starts a task's command.
func (r *Runtime) execute(t *task) error {
	if !r.on.namespaces {
		return t.cmd.Start()
	}
	spec, err := json.Marshal(t.spec)
	if err != nil {
		return err
	}
	return startShim(t.cmd, spec)
}

// inside makes a command that runs in a container, and how to start it.
func (r *Runtime) inside(t *task, argv []string) (*exec.Cmd, func() error) {
	spec := *t.spec
	spec.Argv = argv
	if !r.on.namespaces {
		return groupCommand(&spec)
	}
	spec.Target = t.cmd.Process.Pid
	cmd := &exec.Cmd{
		Path: r.cfg.Shim, Args: []string{r.cfg.Shim, shimspec.VerbExec}, Env: []string{}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	return cmd, func() error {
		data, err := json.Marshal(&spec)
		if err != nil {
			return err
		}
		return startShim(cmd, data)
	}
}
