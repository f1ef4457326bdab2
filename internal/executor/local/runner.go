package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// What is in an attempt's folder beside its record.
const (
	logFile    = "log"
	outputFile = "output"
	workFolder = "work" // where a step without workspace runs
)

// carryOut sees an attempt through.
func (e *Executor) carryOut(a *attempt) {
	r := &runner{e: e, a: a, job: &a.job, folder: e.folder(a.job.Ref)}
	err := r.exist()
	var end run.End
	if err == nil {
		end = r.run()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer close(a.over)
	a.end()
	if err != nil {
		e.refuse(a, run.Outcome{Reason: reason.LocalStartFailed, Message: "its folder could not be made: " + err.Error()})
		return
	}
	r.know(func(o *run.Observation) { o.Phase, o.Waiting, o.End = run.PhaseEnded, nil, &end })
	switch {
	case a.stopped && end.Class == run.NeverStarted:
		e.remove(a)
	case a.stopped:
		time.AfterFunc(linger, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.remove(a)
		})
	}
}

// runner runs one attempt.
type runner struct {
	e      *Executor
	a      *attempt
	job    *executor.Attempt
	record record
	folder string
	space  string // the run's workspace, if the step has it
	dir    string // where the step runs
}

// know notes how the attempt is now: on the disk, and then for the reporter. e.mu is held.
func (r *runner) know(change func(*run.Observation)) {
	o := r.a.seen
	change(&o)
	r.record.Seen = o
	if err := r.record.write(r.folder); err != nil {
		r.e.Options.Log.Warn("how an attempt is could not be recorded", "run", r.job.Run, "step", r.job.Step, "error", err)
	}
	r.e.report(r.a, o)
}

func (r *runner) now(change func(*run.Observation)) {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	r.know(change)
}

// exist makes the attempt's object: its folder with a record.
func (r *runner) exist() error {
	if err := os.MkdirAll(r.folder, 0o700); err != nil {
		return err
	}
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	o := r.a.seen
	o.ID, o.Node, o.ScheduledAt = ulid.Make().String(), r.e.node, r.e.Now()
	r.record.Seen = o
	if err := r.record.write(r.folder); err != nil {
		return err
	}
	r.e.report(r.a, o)
	return nil
}

func (r *runner) run() run.End {
	if r.a.asked.Err() != nil {
		return r.unstarted()
	}
	if err := r.prepare(); err != nil {
		if r.a.asked.Err() != nil {
			return r.unstarted()
		}
		return never(reason.LocalStartFailed, err.Error(), errors.Is(err, errTooLarge))
	}
	all, why := r.begin()
	defer all.stop(r.a.forced)
	switch {
	case r.a.asked.Err() != nil:
		return r.unstarted()
	case why != "":
		return never(reason.ServiceFailed, why, false)
	}
	return r.step()
}

func never(code reason.Code, message string, final bool) run.End {
	return run.End{Outcome: run.Outcome{Class: run.NeverStarted, Reason: code, Message: message, Final: final}}
}

// unstarted is the end of an attempt that was asked to end before its step had started.
func (r *runner) unstarted() run.End {
	why := context.Cause(r.a.asked)
	if errors.Is(why, errLeaving) {
		return *left(false)
	}
	return never(reason.CancelledByPerson, why.Error()+" before its process had started", false)
}

// prepare makes what the step finds: the folder that it runs in, and an empty output file.
func (r *runner) prepare() error {
	base := filepath.Join(r.folder, workFolder)
	if err := os.MkdirAll(base, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.folder, outputFile), nil, 0o600); err != nil {
		return err
	}
	if r.job.Spec.Work.Workspace {
		space, err := r.e.workspaceOf(r.a.asked, r.job.Run)
		if err != nil {
			return fmt.Errorf("the workspace could not be made: %w", err)
		}
		r.space, base = space, space
	}
	if r.dir = r.job.Spec.Work.WorkingDir; !filepath.IsAbs(r.dir) {
		r.dir = filepath.Join(base, r.dir)
	}
	return nil
}

// step runs the step's own command. What is recorded before says that it may have started.
func (r *runner) step() run.End {
	r.record.Starting = true
	if err := r.record.write(r.folder); err != nil {
		return never(reason.LocalStartFailed, "it could not be recorded: "+err.Error(), false)
	}
	log, err := os.OpenFile(filepath.Join(r.folder, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return never(reason.LocalStartFailed, err.Error(), false)
	}
	defer log.Close()
	w := &r.job.Spec.Work
	p, err := begin(r.argv(w.Command, w.Args), append(r.environment(w.Env), r.berth()...), r.dir, log, r.e.Now)
	if err != nil {
		return r.startError(err)
	}
	r.record.add(p.pid)
	r.now(func(o *run.Observation) { o.Phase, o.Waiting, o.StartedAt = run.PhaseRunning, nil, p.since })
	asked := p.end(r.a.asked, r.a.forced)
	if asked && errors.Is(context.Cause(r.a.asked), errLeaving) {
		end := left(true)
		end.FinishedAt = p.at
		return *end
	}
	return r.ended(p)
}

// startError is the end of a step whose command could not be started: exit codes are a shell's.
func (r *runner) startError(err error) run.End {
	code := 126
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		code = 127
	}
	message := err.Error()
	if info, statErr := os.Stat(r.dir); statErr != nil || !info.IsDir() {
		message = "its working_dir is no folder: " + r.dir
	}
	return run.End{FinishedAt: r.e.Now(),
		Outcome: run.Outcome{Class: run.Failure, Reason: reason.StartError, ExitCode: &code, Message: message}}
}

// ended is how the step's process ended.
func (r *runner) ended(p *process) run.End {
	state := p.cmd.ProcessState
	code := state.ExitCode()
	end := run.End{FinishedAt: p.at, Outcome: run.Outcome{Class: run.Success, Reason: reason.Completed, ExitCode: &code}}
	if code != 0 {
		end.Class, end.Reason, end.Message = run.Failure, reason.ExitCode, fmt.Sprintf("exit code %d", code)
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal())
		end.Message = fmt.Sprintf("exit code %d, since signal %d (%s) ended it", code, status.Signal(), status.Signal())
	}
	end.Output, end.Cut = r.output()
	return end
}

// output reads what the step wrote to $BERTH_OUTPUT, under the bound of a pod with as many containers: the
// last bytes of it are kept.
func (r *runner) output() (text string, cut bool) {
	bound := min(4096, 12288/(1+len(r.job.Spec.Work.Services)))
	// A step may have put anything there. A pipe that nobody writes to would keep an open waiting.
	f, err := os.OpenFile(filepath.Join(r.folder, outputFile), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data := make([]byte, min(info.Size(), int64(bound)))
	n, err := f.ReadAt(data, info.Size()-int64(len(data)))
	if err != nil && err != io.EOF {
		return "", false
	}
	return string(data[:n]), n >= bound
}
