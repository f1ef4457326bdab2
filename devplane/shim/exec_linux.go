package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// runExec runs a command in a container and exits with its exit code. It closes the report when
// the command runs.
//
// The shim can't join the container's mount namespace (the kernel forbids it to a program with
// threads), but its root through /proc/PID/root is the same tree with the same mounts. The PID
// namespace it can join for its child, so the command dies with the container. Both are in one
// process group, for whoever wants to end the command earlier.
func runExec(spec *shimspec.Spec, report *os.File) error {
	for _, ns := range []struct {
		name string
		flag int
	}{{"uts", unix.CLONE_NEWUTS}, {"pid", unix.CLONE_NEWPID}} {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/ns/%s", spec.Target, ns.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening the container's %s namespace: %w", ns.name, err)
		}
		if err := unix.Setns(fd, ns.flag); err != nil {
			return fmt.Errorf("entering the container's %s namespace: %w", ns.name, err)
		}
		unix.Close(fd)
	}
	if err := unix.Chroot(fmt.Sprintf("/proc/%d/root", spec.Target)); err != nil {
		return fmt.Errorf("entering the container's root: %w", err)
	}
	if err := os.Chdir(spec.Dir); err != nil {
		return fmt.Errorf("changing to the working directory: %w", err)
	}
	if err := dropCapabilities(spec); err != nil {
		return err
	}
	path, err := lookPath(spec)
	if err != nil {
		return err
	}
	if spec.NoNewPrivs { // of this thread, which the command's is forked from
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("setting no_new_privs: %w", err)
		}
	}
	cmd := &exec.Cmd{
		Path: path, Args: spec.Argv, Env: spec.Env, Dir: spec.Dir,
		Stdout: os.Stdout, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: spec.UID, Gid: spec.GID, Groups: spec.Groups},
		},
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	report.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &exit) && exit.Exited():
		os.Exit(exit.ExitCode())
	case errors.As(err, &exit):
		status := exit.Sys().(syscall.WaitStatus)
		os.Exit(128 + int(status.Signal()))
	}
	return err
}
