package local

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

const recordFile = "record.json"

// record is what the next berth has to know of an attempt.
type record struct {
	Seen     run.Observation `json:"seen"`
	Starting bool            `json:"starting,omitempty"` // the step may have started since
	Groups   []group         `json:"groups,omitempty"`
}

// group is a process group, by its first process.
type group struct {
	PID  int    `json:"pid"`
	Born string `json:"born"`
}

func (rec *record) add(pid int) { rec.Groups = append(rec.Groups, group{PID: pid, Born: born(pid)}) }

// write replaces the attempt's record. What it says is durable afterwards if it is how the attempt ended: all
// else is not true any more where the machine itself has failed.
func (rec *record) write(folder string) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, recordFile)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && rec.Seen.End != nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// takeIn reports what a former berth has left. e.mu is held.
func (e *Executor) takeIn() {
	runs, _ := os.ReadDir(e.Dir)
	for _, r := range runs {
		attempts, _ := os.ReadDir(filepath.Join(e.Dir, r.Name()))
		for _, a := range attempts {
			e.takeInOne(filepath.Join(e.Dir, r.Name(), a.Name()))
		}
	}
}

// takeInOne reports an attempt. A folder without a record is not one, or no process of it was ever started.
func (e *Executor) takeInOne(folder string) {
	data, err := os.ReadFile(filepath.Join(folder, recordFile))
	if err != nil {
		return
	}
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil || e.folder(rec.Seen.Ref) != folder {
		e.Options.Log.Warn("a record of an attempt can't be read; it is left alone", "folder", folder, "error", err)
		return
	}
	if rec.Seen.End == nil {
		for _, g := range rec.Groups {
			g.kill()
		}
		rec.Seen.Phase, rec.Seen.Waiting = run.PhaseEnded, nil
		rec.Seen.End = left(rec.Starting || !rec.Seen.StartedAt.IsZero())
		rec.Seen.End.FinishedAt = e.Now()
		if err := rec.write(folder); err != nil {
			e.Options.Log.Warn("how an attempt ended could not be recorded", "folder", folder, "error", err)
		}
	}
	a := newAttempt(executor.Attempt{Ref: rec.Seen.Ref})
	a.end()
	e.attempts[rec.Seen.Ref] = a
	e.report(a, rec.Seen)
}

// left is the end of an attempt whose berth ended before it.
func left(started bool) *run.End {
	end := &run.End{Outcome: run.Outcome{Class: run.NeverStarted, Reason: reason.ExecutorRestarted, Message: errLeaving.Error()}}
	if started {
		end.Class = run.Lost
	}
	return end
}

// kill kills what is left of the group, if its first process is provably the one that was recorded. A number
// whose first process has ended may be another group's by now.
func (g group) kill() {
	if g.PID <= 1 || g.Born == "" || born(g.PID) != g.Born {
		return
	}
	_ = syscall.Kill(-g.PID, syscall.SIGKILL)
	untilGone(g.PID)
}
