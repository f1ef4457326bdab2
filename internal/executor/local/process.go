package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is the first process of a group.
type process struct {
	cmd   *exec.Cmd
	pid   int // of the group as well
	since time.Time
	ended chan struct{} // closed when it has ended; others of its group may not have
	at    time.Time     // when that was
}

// begin starts a process in a session of its own: a group, and no terminal that a command could ask on.
func begin(argv, env []string, dir string, out *os.File, now func() time.Time) (*process, error) {
	c := command(context.Background(), argv, env, dir, out)
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: c, pid: c.Process.Pid, since: now(), ended: make(chan struct{})}
	go func() {
		_ = c.Wait() // what comes of it is in c.ProcessState
		p.at = now()
		close(p.ended)
	}()
	return p, nil
}

func command(ctx context.Context, argv, env []string, dir string, out *os.File) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Path, c.Err = lookPath(argv[0], env, dir)
	c.Env, c.Dir = env, dir
	if out != nil {
		c.Stdout, c.Stderr = out, out
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

// end waits until the process ends, or ends it when it is asked to, and then kills whatever of its group has
// outlived it. It says whether the process was asked. When it returns, none of the group is left.
func (p *process) end(asked, forced context.Context) (wasAsked bool) {
	select {
	case <-p.ended:
	case <-asked.Done():
		wasAsked = true
		p.signal(syscall.SIGTERM)
		select {
		case <-p.ended:
		case <-forced.Done():
			p.signal(syscall.SIGKILL)
			<-p.ended
		}
	}
	p.signal(syscall.SIGKILL)
	untilGone(p.pid)
	return wasAsked
}

// signal signals the group. That there is none any more is no error.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.pid, s) }

// untilGone waits until no process of a group lives. They were killed: the kernel takes its time to end them.
// Nobody can be asked to tell of it, since they may be children of others.
func untilGone(group int) {
	for pause := time.Millisecond; lives(group); pause = min(2*pause, 100*time.Millisecond) {
		time.Sleep(pause)
	}
}

// lives says whether a process of the group does. Processes that have ended, and whose parent has not asked
// how, still count for kill(2), so that those who are left are looked at.
func lives(group int) bool {
	if errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) {
		return false
	}
	return anyAlive(group)
}
