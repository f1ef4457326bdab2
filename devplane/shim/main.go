//go:build linux

// Command shim turns itself into a container's first process.
//
// It is started in fresh namespaces, builds the container's view of the file system, gives up
// what the container may not have, and executes the command. It never returns: a failure is
// written to shimspec.ReportFD and ends it with exit code 128, as a container that can't start.
//
//	shim run   the first process of a container
//	shim exec  a further process (a probe, a hook) in a container that runs
//
// It is a program of its own, and a small one: executing devplane itself for each container
// would cost its whole image in memory each time.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

func main() {
	// Credentials, capabilities and the namespace of children belong to a thread, not to the
	// process, so everything happens on one.
	runtime.LockOSThread()
	unix.CloseOnExec(shimspec.ReportFD)
	report := os.NewFile(shimspec.ReportFD, "report")
	// It returns only if it failed: otherwise the command has taken this process's place.
	fmt.Fprint(report, run(report))
	os.Exit(128)
}

func run(report *os.File) error {
	if len(os.Args) != 2 {
		return fmt.Errorf("shim: want one verb, got %q", os.Args[1:])
	}
	var spec shimspec.Spec
	in := os.NewFile(shimspec.SpecFD, "spec")
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return fmt.Errorf("shim: reading the spec: %w", err)
	}
	in.Close()
	switch os.Args[1] {
	case shimspec.VerbRun:
		return runContainer(&spec)
	case shimspec.VerbExec:
		return runExec(&spec, report)
	}
	return fmt.Errorf("shim: unknown verb %q", os.Args[1])
}

// runContainer replaces the shim by the container's command.
func runContainer(spec *shimspec.Spec) error {
	if err := unix.Sethostname([]byte(spec.Hostname)); err != nil {
		return fmt.Errorf("setting the hostname: %w", err)
	}
	if err := enterRoot(spec); err != nil {
		return err
	}
	if err := os.MkdirAll(spec.Dir, 0o755); err != nil {
		return fmt.Errorf("creating the working directory: %w", err)
	}
	if spec.ReadOnlyRoot {
		if err := sealRoot(); err != nil {
			return err
		}
	}
	if err := os.Chdir(spec.Dir); err != nil {
		return fmt.Errorf("changing to the working directory: %w", err)
	}
	if err := dropCapabilities(spec); err != nil {
		return err
	}
	if err := becomeUser(spec); err != nil {
		return err
	}
	path, err := lookPath(spec)
	if err != nil {
		return err
	}
	return &exec.Error{Name: spec.Argv[0], Err: syscall.Exec(path, spec.Argv, spec.Env)}
}

// lookPath finds the command on the container's own PATH. Its error is the one that runc gives.
func lookPath(spec *shimspec.Spec) (string, error) {
	os.Clearenv()
	for _, kv := range spec.Env {
		if len(kv) > 5 && kv[:5] == "PATH=" {
			os.Setenv("PATH", kv[5:])
		}
	}
	return exec.LookPath(spec.Argv[0])
}
