package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	remote "k8s.io/cri-client/pkg"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	utilexec "k8s.io/utils/exec"
)

// runner runs commands in one container, for the kubelet's own probes and hooks.
type runner struct {
	r *Runtime
	t *task
}

var _ kubecontainer.CommandRunner = runner{}

// RunInContainer implements kubecontainer.CommandRunner: the output is that of both streams, an
// exit code other than 0 is an ExitError, no timeout is 0.
func (r runner) RunInContainer(ctx context.Context, _ kubecontainer.ContainerID, argv []string, timeout time.Duration) ([]byte, error) {
	if r.t == nil {
		return nil, errors.New("the container has no process")
	}
	cmd, start := r.r.inside(r.t, argv)
	out := &bounded{}
	cmd.Stdout, cmd.Stderr = out, out
	// A command may leave children that hold the output.
	cmd.WaitDelay = 100 * time.Millisecond
	if err := start(); err != nil {
		return nil, err
	}
	if timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	// The whole group: with namespaces the command is the shim's child.
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	if !stop() {
		if timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return out.Bytes(), fmt.Errorf("%w: %q timed out after %s", remote.ErrCommandTimedOut, strings.Join(argv, " "), timeout)
		}
		return out.Bytes(), ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code := int(exitCode(exit.ProcessState))
		return out.Bytes(), utilexec.CodeExitError{Err: fmt.Errorf("command exited with %d", code), Code: code}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.Bytes(), err
}

// maxOutput is how much of a probe's or a hook's output is kept, as by the kubelet.
const maxOutput = 10 << 10

// bounded keeps the first bytes written to it and takes the rest without a word: the process that
// stands for all nodes must not grow with what one command prints.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxOutput-b.Len())])
	return len(p), nil
}
