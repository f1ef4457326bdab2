package local_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

func TestLeave(t *testing.T) {
	dir := t.TempDir()
	first := begin(t, local.Options{Dir: dir})
	done, running := script("echo A=1 >$BERTH_OUTPUT"), script("echo $$; sleep 1000 & wait")
	done.Step = "done"
	first.Start(done)
	first.Start(running)
	ended := first.until(done.Ref, phase(run.PhaseEnded))
	group, _ := strconv.Atoi(first.line(t, running.Ref))
	first.leave()
	if alive(t, group) {
		t.Error("a process outlives its berth")
	}
	before := len(first.of(running.Ref))

	second := begin(t, local.Options{Dir: dir})
	if second.synced != 2 {
		t.Errorf("%d observations before Synced", second.synced)
	}
	again := second.until(done.Ref, phase(run.PhaseEnded))
	if again.ID != ended.ID || again.End.Class != run.Success || again.End.Output != "A=1\n" {
		t.Errorf("what had ended is now %+v", again)
	}
	lost := second.until(running.Ref, phase(run.PhaseEnded))
	if lost.End.Class != run.Lost || lost.End.Reason != reason.ExecutorRestarted || lost.StartedAt.IsZero() {
		t.Errorf("what ran is now %+v", lost.End)
	}
	if now := len(first.of(running.Ref)); now != before {
		t.Error("something was reported while it left")
	}
	second.Start(running) // it has ended
	second.Stop(executor.Stop{Ref: running.Ref, ID: lost.ID})
	second.Stop(executor.Stop{Ref: done.Ref, ID: again.ID})
	second.until(running.Ref, phase(run.PhaseGone))
	second.until(done.Ref, phase(run.PhaseGone))
	if err := second.FinishRun(t.Context(), "r"); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestKilled has a berth killed, in a process of its own, while a step runs.
func TestKilled(t *testing.T) {
	const folder = "BERTH_TEST_FOLDER"
	if dir := os.Getenv(folder); dir != "" {
		b := begin(t, local.Options{Dir: dir})
		job := script("echo $$; trap '' TERM; sleep 1000 & wait; sleep 1000")
		b.Start(job)
		fmt.Println("group", b.line(t, job.Ref))
		select {}
	}
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	c.Env = append(os.Environ(), folder+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var group int
	t.Cleanup(func() {
		if _ = c.Process.Kill(); t.Failed() && group > 1 {
			_ = syscall.Kill(-group, syscall.SIGKILL)
		}
	})
	if _, err := fmt.Fscanf(bufio.NewReader(out), "group %d\n", &group); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if !alive(t, group) {
		t.Fatal("the step ended with its berth, so that this proves nothing")
	}
	b := begin(t, local.Options{Dir: dir})
	o := b.until(run.Ref{Run: "r", Step: "s", Attempt: 1}, phase(run.PhaseEnded))
	if o.End.Class != run.Lost || o.End.Reason != reason.ExecutorRestarted {
		t.Errorf("ended as %+v", o.End.Outcome)
	}
	if alive(t, group) {
		t.Error("the step still runs")
	}
}
