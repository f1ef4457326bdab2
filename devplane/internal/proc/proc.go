// Package proc starts and ends operating system processes so that none is left behind.
//
// Promises:
//
//   - A child dies when its parent dies, on Linux, also when the parent is killed with SIGKILL
//     (unless started with StartDetached).
//   - A child has its own session: a terminal's Ctrl-C reaches the parent alone, which then ends
//     its children in the right order.
//   - KillDescendants ends whatever was started below this process, also what has daemonised,
//     as long as this process is a child subreaper (BecomeSubreaper).
//
// Outside Linux the kernel offers neither parent-death signals nor subreapers; there a child ends
// with its parent only when the parent ends it.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec is a process to start.
type Spec struct {
	Path string
	Args []string // without argv[0]
	Env  []string // the whole environment
	Dir  string
	Out  io.Writer // standard output and standard error; nil discards them
	// Files are inherited as file descriptors 3 and up.
	Files []*os.File
}

// Process is a started child.
type Process struct {
	Pid  int
	done chan struct{}
	err  error
}

// Done is closed when the process has ended and was waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the process ended; nil for exit 0. Valid after Done.
func (p *Process) Err() error { return p.err }

// started are the children that os/exec waits for; every other child was adopted. forking is
// held while one is being added.
var (
	started sync.Map // pid -> struct{}
	forking sync.Mutex
)

// Signal sends sig to the process; it is no error if that has ended already.
func (p *Process) Signal(sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(p.Pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Stop sends SIGTERM, then SIGKILL when the process has not ended after grace, and waits.
func (p *Process) Stop(grace time.Duration) {
	_ = p.Signal(syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Kill()
	}
}

// Kill sends SIGKILL and waits.
func (p *Process) Kill() {
	_ = p.Signal(syscall.SIGKILL)
	<-p.done
}

// Start starts s. It dies with this process.
func Start(s Spec) (*Process, error) { return start(s, childAttr()) }

// StartDetached starts s in a session of its own, and it outlives this process: for one that
// cleans up behind it.
func StartDetached(s Spec) (*Process, error) {
	return start(s, &syscall.SysProcAttr{Setsid: true})
}

func start(s Spec, attr *syscall.SysProcAttr) (*Process, error) {
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = s.Env, s.Dir, s.Files
	cmd.Stdout, cmd.Stderr = s.Out, s.Out
	cmd.SysProcAttr = attr
	err := onStarterThread(func() error {
		// Held from before the fork, so that a child that ends at once is not taken for an
		// adopted one.
		forking.Lock()
		defer forking.Unlock()
		err := cmd.Start()
		if err == nil {
			started.Store(cmd.Process.Pid, struct{}{})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p := &Process{Pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		started.Delete(p.Pid)
		close(p.done)
	}()
	return p, nil
}

// Output runs a short command to its end and returns what it printed on both streams. A process
// that is a subreaper must run commands through this package: it would take away from os/exec
// the exit status of a child that it knows nothing of.
func Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	p, err := Start(Spec{Path: path, Args: args, Env: os.Environ(), Out: &out})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Signal(syscall.SIGKILL) })
	defer stop()
	<-p.Done()
	if p.err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), p.err, bytes.TrimSpace(out.Bytes()))
	}
	return out.Bytes(), err
}
