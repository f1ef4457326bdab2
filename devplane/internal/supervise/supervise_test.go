package supervise

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/devplane/internal/proc"
)

// part returns a part that runs a shell script, and what it told.
func part(t *testing.T, script string) (*Part, chan string) {
	t.Helper()
	events := make(chan string, 100)
	p := New(Spec{
		Name: "part", Log: filepath.Join(t.TempDir(), "part.log"), Grace: 50 * time.Millisecond,
		Proc: proc.Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ()},
	}, func(s string) { events <- s })
	t.Cleanup(p.Kill)
	return p, events
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n       int
		settled bool
		giveUp  bool
	}{{1, false, true}, {1, true, false}, {most, true, false}, {most + 1, true, true}} {
		if _, giveUp := verdict(c.n, c.settled); giveUp != c.giveUp {
			t.Errorf("end %d, settled %v: give up %v; want %v", c.n, c.settled, giveUp, c.giveUp)
		}
	}
	now := time.Now()
	if got := recent([]time.Time{now.Add(-2 * window), now.Add(-window / 2)}, now); len(got) != 1 {
		t.Errorf("%d recent ends; want 1", len(got))
	}
}

// While coming up the first end is the failure, with the part's last words.
func TestEndWhileComingUp(t *testing.T) {
	t.Parallel()
	p, _ := part(t, "echo first; echo no such flag; exit 3")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	err := WaitFailed(context.Background(), []*Part{p})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such flag") {
		t.Errorf("error %v", err)
	}
}

// Later it is started again, and each start is counted, until it has ended too often.
func TestEndLater(t *testing.T) {
	t.Parallel()
	p, events := part(t, "exit 1")
	p.Settle()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if err := WaitFailed(context.Background(), []*Part{p}); err == nil {
		t.Fatal("no error")
	}
	if got := len(events); got != most {
		t.Errorf("%d restarts told of; want %d", got, most)
	}
	if s := p.Status(); s.Restarts != most || s.State != Down {
		t.Errorf("status %+v", s)
	}
}

func TestKillStaysDown(t *testing.T) {
	t.Parallel()
	p, events := part(t, "sleep 1000")
	p.Settle()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	was := p.Status()
	p.Kill()
	if s := p.Status(); s.State != Down || s.Pid != 0 || len(events) != 0 {
		t.Errorf("after kill: %+v, %d events", s, len(events))
	}
	if err := p.Pause(); err == nil {
		t.Error("a part that is down was paused")
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	if s := p.Status(); s.State != Running || s.Pid == was.Pid || s.Restarts != 1 {
		t.Errorf("after start: %+v", s)
	}
}

// Stop lets a part end in order, a paused one too.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, paused := range []bool{false, true} {
		p, _ := part(t, "trap 'echo in order; exit 0' TERM; echo set; while :; do sleep 0.01; done")
		p.spec.Grace = time.Minute
		start(t, p)
		if paused {
			if err := p.Pause(); err != nil {
				t.Fatal(err)
			}
			if s := p.Status(); s.State != Paused {
				t.Errorf("state %s; want paused", s.State)
			}
			if err := p.Start(); err == nil {
				t.Error("a paused part was started")
			}
		}
		p.Stop()
		if s := p.Status(); s.State != Down || !strings.Contains(Tail(p.spec.Log, 5), "in order") {
			t.Errorf("paused %v: state %s, %s", paused, s.State, Tail(p.spec.Log, 5))
		}
	}
}

// Stop kills what ignores SIGTERM.
func TestStopIgnored(t *testing.T) {
	t.Parallel()
	p, _ := part(t, "trap '' TERM; echo set; while :; do sleep 0.01; done")
	start(t, p)
	p.Stop()
	if s := p.Status(); s.State != Down {
		t.Errorf("state %s; want down", s.State)
	}
}

// start starts a part and waits for its first line.
func start(t *testing.T, p *Part) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(Tail(p.spec.Log, 1), "set") {
		time.Sleep(time.Millisecond)
	}
}

// A closed part goes on, but is not started again however it ends.
func TestClose(t *testing.T) {
	t.Parallel()
	p, events := part(t, "echo set; sleep 1000")
	p.Settle()
	start(t, p)
	p.Close()
	if s := p.Status(); s.State != Running {
		t.Errorf("state %s; want running", s.State)
	}
	if err := syscall.Kill(p.Status().Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	if err := p.Start(); err == nil || len(events) != 0 {
		t.Errorf("started after its end: %v, %d events", err, len(events))
	}
}

func TestWaitFailedIsCancelled(t *testing.T) {
	t.Parallel()
	asked := errors.New("asked")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(asked)
	p, _ := part(t, "sleep 1000")
	if err := WaitFailed(ctx, []*Part{p}); !errors.Is(err, asked) {
		t.Errorf("error %v; want the cause", err)
	}
}
