package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, script string
		class        run.Class
		reason       reason.Code
		exit         int
		log          string
	}{
		{"success", "echo out; echo err >&2", run.Success, reason.Completed, 0, "out\nerr\n"},
		{"exit code", "exit 3", run.Failure, reason.ExitCode, 3, ""},
		{"a signal of its own", "kill -KILL $$", run.Failure, reason.ExitCode, 137, ""},
		{"what outlives it is killed", "sleep 1000 & echo over", run.Success, reason.Completed, 0, "over\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, local.Options{Dir: t.TempDir()})
			job := script(c.script)
			b.Start(job)
			b.Start(job)
			o := b.until(job.Ref, phase(run.PhaseEnded))
			if o.End.Class != c.class || o.End.Reason != c.reason || o.End.ExitCode == nil || *o.End.ExitCode != c.exit {
				t.Errorf("ended as %+v", o.End.Outcome)
			}
			if got := b.log(t, job.Ref, false); got != c.log {
				t.Errorf("log %q, not %q", got, c.log)
			}
			var phases []run.Phase
			for _, o := range b.of(job.Ref) {
				phases = append(phases, o.Phase)
				if o.ID == "" || o.Node == "" || o.Fence != 7 {
					t.Errorf("an observation lacks something: %+v", o)
				}
			}
			if got := fmt.Sprint(phases); got != "[waiting running ended]" {
				t.Errorf("observed %s", got)
			}
			if o.StartedAt.IsZero() || o.End.FinishedAt.Before(o.StartedAt) {
				t.Errorf("started at %v, finished at %v", o.StartedAt, o.End.FinishedAt)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		command, dir string
		exit         int
	}{
		"no command":          {"there-is-no-such-command", "", 127},
		"no file":             {filepath.Join(folder, "none"), "", 127},
		"not executable":      {plain, "", 126},
		"no working_dir":      {"true", "none", 127},
		"working_dir is none": {"true", plain, 126},
	} {
		t.Run(name, func(t *testing.T) {
			b := begin(t, local.Options{Dir: t.TempDir()})
			job := script("")
			job.Spec.Work.Command, job.Spec.Work.WorkingDir = texts(c.command), c.dir
			b.Start(job)
			end := b.until(job.Ref, phase(run.PhaseEnded)).End
			if end.Class != run.Failure || end.Reason != reason.StartError || end.ExitCode == nil || *end.ExitCode != c.exit {
				t.Errorf("ended as %+v", end.Outcome)
			}
		})
	}
}

func TestOutput(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		services     int
		cut          bool
	}{
		"none":                     {"true", "", 0, false},
		"some":                     {"echo A=1 >>$BERTH_OUTPUT; echo B=2 >>$BERTH_OUTPUT", "A=1\nB=2\n", 0, false},
		"at the bound":             {"head -c 5000 /dev/zero | tr '\\0' x >$BERTH_OUTPUT; exit 0", strings.Repeat("x", 4096), 0, true},
		"at the bound of services": {"head -c 3000 /dev/zero | tr '\\0' x >$BERTH_OUTPUT", strings.Repeat("x", 2457), 4, true},
		"below the bound":          {"head -c 2400 /dev/zero | tr '\\0' x >$BERTH_OUTPUT", strings.Repeat("x", 2400), 4, false},
		"a pipe":                   {"rm $BERTH_OUTPUT; mkfifo $BERTH_OUTPUT", "", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, local.Options{Dir: t.TempDir()})
			job := script(c.script)
			for i := range c.services {
				job.Spec.Work.Services = append(job.Spec.Work.Services, plan.Service{Name: "s" + strconv.Itoa(i), Command: texts("sleep", "1000")})
			}
			b.Start(job)
			if end := b.until(job.Ref, phase(run.PhaseEnded)).End; end.Output != c.want || end.Cut != c.cut {
				t.Errorf("output of %d bytes, cut %v; wanted %d, %v (%+v)", len(end.Output), end.Cut, len(c.want), c.cut, end.Outcome)
			}
		})
	}
}
