package local_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/run"
)

func TestStop(t *testing.T) {
	one := int64(1)
	for name, c := range map[string]struct {
		script string
		grace  *int64
		exit   int
	}{
		"TERM ends it":                  {"echo $$; while :; do sleep 1000; done", nil, 143},
		"TERM is trapped":               {"trap 'exit 0' TERM; echo $$; while :; do sleep 1000 & wait; done", nil, 0},
		"TERM is ignored":               {"trap '' TERM; echo $$; while :; do sleep 1000; done", &one, 137},
		"TERM is ignored by grandchild": {"(trap '' TERM; sleep 1000; sleep 1000) & echo $$; wait", nil, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := begin(t, local.Options{Dir: dir})
			job := script(c.script)
			b.Start(job)
			group, _ := strconv.Atoi(b.line(t, job.Ref))
			b.Stop(executor.Stop{Ref: job.Ref, Grace: c.grace})
			o := b.until(job.Ref, phase(run.PhaseEnded))
			if o.End.ExitCode == nil || *o.End.ExitCode != c.exit || o.DeletionAt.IsZero() {
				t.Errorf("ended as %+v, deletion at %v", o.End.Outcome, o.DeletionAt)
			}
			if alive(t, group) {
				t.Error("something of its group lives")
			}
			b.Stop(executor.Stop{Ref: job.Ref, ID: o.ID})
			if gone := b.until(job.Ref, phase(run.PhaseGone)); gone.End == nil || gone.DeletionAt != o.DeletionAt {
				t.Errorf("gone as %+v", gone)
			}
			if _, err := os.Stat(filepath.Join(dir, "r", "s-1")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("its folder: %v", err)
			}
			if _, err := b.Log(t.Context(), job.Ref, "", false); !errors.Is(err, executor.ErrNoLog) {
				t.Errorf("its log: %v", err)
			}
		})
	}
}

// alive says whether a process of the group is more than a zombie.
func alive(t *testing.T, group int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pgid=,stat=").Output()
	if err != nil {
		return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 2 && f[0] == strconv.Itoa(group) && f[1][0] != 'Z' {
			return true
		}
	}
	return false
}

func TestUnknown(t *testing.T) {
	b := begin(t, local.Options{Dir: t.TempDir()})
	stopped, asked := script("true"), script("true")
	stopped.Step, asked.Step = "stopped", "asked"
	b.Stop(executor.Stop{Ref: stopped.Ref})
	b.until(stopped.Ref, phase(run.PhaseGone))
	b.Confirm(asked.Ref, "x")
	if o := b.until(asked.Ref, phase(run.PhaseGone)); o.ID != "x" || o.End != nil {
		t.Errorf("observed %+v", o)
	}
	b.Start(stopped) // after its stop
	b.flush()
	for _, o := range b.of(stopped.Ref) {
		if o.Phase != run.PhaseGone {
			t.Errorf("it was started: %+v", o)
		}
	}
}

// curious asks while it is told.
type curious struct {
	*eye
	ask func(run.Observation)
}

func (c *curious) Observe(o run.Observation) {
	c.eye.Observe(o)
	c.ask(o)
}

func TestReporterMayAsk(t *testing.T) {
	e := local.New(local.Options{Dir: t.TempDir(), Source: t.TempDir()})
	job := script("true")
	r := &curious{newEye(), func(o run.Observation) {
		if o.Ref == job.Ref && o.Phase == run.PhaseEnded {
			e.Stop(executor.Stop{Ref: o.Ref, ID: o.ID})
		}
		if o.Phase == run.PhaseGone && o.Step == "first" {
			e.Start(job)
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Run(ctx, r) }()
	r.eye.wait(func() bool { return r.synced >= 0 })
	e.Confirm(run.Ref{Run: "r", Step: "first", Attempt: 1}, "")
	r.until(job.Ref, phase(run.PhaseGone))
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestOtherIDIsNotTouched(t *testing.T) {
	b := begin(t, local.Options{Dir: t.TempDir()})
	job := script("echo up; sleep 1000")
	b.Start(job)
	b.line(t, job.Ref)
	b.Stop(executor.Stop{Ref: job.Ref, ID: "another"})
	b.until(job.Ref, func(o run.Observation) bool { return o.ID == "another" && o.Phase == run.PhaseGone })
	b.flush()
	for _, o := range b.of(job.Ref) {
		if o.ID != "another" && (o.Phase == run.PhaseEnded || !o.DeletionAt.IsZero()) {
			t.Errorf("it is %+v", o)
		}
	}
}
