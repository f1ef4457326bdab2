package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// task is one run of a container: its first process. With namespaces, nothing of the container
// outlives that; without, what stays in its process group is killed when it ends.
type task struct {
	cmd  *exec.Cmd
	spec *shimspec.Spec
	log  *logFile

	streams sync.WaitGroup
	outputs []*os.File // the reading ends of stdout and stderr
}

// streams are the names of a container's outputs, in the order of their file descriptors.
var streams = []string{"stdout", "stderr"}

// startError is that of a command which can't be executed.
type startError struct{ err error }

func (e startError) Error() string { return e.err.Error() }

// startTask starts a command whose output goes to the log. It returns when the command has been
// executed.
func (r *Runtime) startTask(spec *shimspec.Spec, log *logFile) (*task, error) {
	t := &task{spec: spec, log: log}
	if err := r.prepare(t); err != nil {
		return nil, startError{err}
	}
	var inputs []*os.File
	for range 2 {
		out, in, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		t.outputs, inputs = append(t.outputs, out), append(inputs, in)
	}
	t.cmd.Stdout, t.cmd.Stderr = inputs[0], inputs[1]
	err := r.execute(t)
	for _, f := range inputs {
		f.Close()
	}
	if err != nil {
		for _, f := range t.outputs {
			f.Close()
		}
		return nil, startError{err}
	}
	for i, stream := range streams {
		t.streams.Go(func() { t.log.copy(stream, t.outputs[i]) })
	}
	return t, nil
}

// wait waits for the end of the task and of its output, and returns the exit code as a container
// runtime counts it.
func (t *task) wait() (code int32, at time.Time) {
	t.cmd.Wait()
	at = time.Now()
	t.killGroup()
	// Who left the process group may hold the output open for ever; what was written until now is
	// in the pipe already. On a busy machine nobody may have come to read it by the deadline.
	for _, f := range t.outputs {
		f.SetReadDeadline(at.Add(100 * time.Millisecond))
	}
	t.streams.Wait()
	for i, f := range t.outputs {
		t.log.copy(streams[i], bytes.NewReader(leftover(f)))
		f.Close()
	}
	return exitCode(t.cmd.ProcessState), at
}

// leftover gives what is in a pipe, without waiting for more.
func leftover(f *os.File) []byte {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	const most = 1 << 20 // a pipe holds no more, and its writer may go on
	var all []byte
	in := make([]byte, 32<<10)
	conn.Control(func(fd uintptr) {
		for len(all) < most {
			n, err := syscall.Read(int(fd), in)
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			all = append(all, in[:n]...)
		}
	})
	return all
}

func exitCode(state *os.ProcessState) int32 {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(state.ExitCode())
}

// terminate asks the container to end, as far as its first process listens.
func (t *task) terminate() { t.cmd.Process.Signal(syscall.SIGTERM) }

// kill ends it.
func (t *task) kill() {
	t.cmd.Process.Kill()
	t.killGroup()
}

// startShim starts the shim with a spec and waits until it has executed the command. The output
// must be set in cmd.
func startShim(cmd *exec.Cmd, spec []byte) error {
	specOut, specIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer specOut.Close()
	defer specIn.Close()
	report, reportIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer report.Close()
	cmd.ExtraFiles = []*os.File{shimspec.SpecFD - 3: specOut, shimspec.ReportFD - 3: reportIn}
	err = cmd.Start()
	reportIn.Close()
	if err != nil {
		return err
	}
	specOut.Close()
	_, err = specIn.Write(spec)
	specIn.Close()
	message, readErr := io.ReadAll(report)
	if len(message) == 0 && err == nil && readErr == nil {
		return nil
	}
	cmd.Process.Kill()
	cmd.Wait()
	if len(message) > 0 {
		return errors.New(string(message))
	}
	return errors.Join(err, readErr)
}
