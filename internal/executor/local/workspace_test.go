package local_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/run"
)

func TestWorkspace(t *testing.T) {
	source := t.TempDir()
	dir := filepath.Join(source, "state") // which git does not ignore
	for name, text := range map[string]string{".gitignore": "ignored\n", "kept": "k", "sub/untracked": "u", "ignored": "i", "deleted": "d"} {
		path := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", ".gitignore", "kept", "deleted"}} {
		c := exec.Command("git", args...)
		c.Dir = source
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	if err := os.Remove(filepath.Join(source, "deleted")); err != nil {
		t.Fatal(err)
	}
	b := begin(t, local.Options{Dir: dir, Source: source})
	first := script("test \"$PWD\" = \"$(cd \"$BERTH_WORKSPACE\" && pwd)\"; find . ! -type d | sort; readlink link; test -x kept; echo made >sub/made")
	first.Spec.Work.Workspace = true
	second := script("cat made")
	second.Step = "second"
	second.Spec.Work.Workspace, second.Spec.Work.WorkingDir = true, "sub"
	for _, job := range []executor.Attempt{first, second} {
		b.Start(job)
		if o := b.until(job.Ref, phase(run.PhaseEnded)); o.End.Class != run.Success {
			t.Errorf("%s ended as %+v", job.Step, o.End.Outcome)
		}
	}
	if got, want := b.log(t, first.Ref, false), "./.gitignore\n./kept\n./link\n./sub/untracked\nnowhere\n"; got != want {
		t.Errorf("the workspace has %q, not %q", got, want)
	}
	if got := b.log(t, second.Ref, false); got != "made\n" {
		t.Errorf("the second step finds %q", got)
	}
	if _, err := os.Stat(filepath.Join(source, "sub", "made")); err == nil {
		t.Error("a step wrote to the source")
	}
	if err := b.FinishRun(t.Context(), "r"); err == nil {
		t.Error("a run is finished whose attempts are not gone")
	}
}

func TestWorkspaceOutsideOfGit(t *testing.T) {
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := begin(t, local.Options{Dir: t.TempDir(), Source: source})
	job := script("ls -A")
	job.Spec.Work.Workspace = true
	b.Start(job)
	if o := b.until(job.Ref, phase(run.PhaseEnded)); o.End.Class != run.Success || b.log(t, job.Ref, false) != "" {
		t.Errorf("ended as %+v with %q", o.End.Outcome, b.log(t, job.Ref, false))
	}
}
