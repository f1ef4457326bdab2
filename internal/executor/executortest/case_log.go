package executortest

import (
	"io"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// trapping is a step that runs until SIGTERM, and succeeds then. Its sleep is a child, that would outlive it.
var trapping = task{`run: "trap 'exit 0' TERM; echo up; sleep 600 & wait"`, Behaviour{Runs: true, Log: "up\n", Stopped: &run.End{}}}

// deaf is a step that runs on after SIGTERM.
var deaf = task{`run: "trap '' TERM; echo up; while :; do sleep 1; done"`, Behaviour{Runs: true, Log: "up\n", Stopped: new(failed(137))}}

// The log of a step that has ended is all that it wrote, in order. Standard error is in it, in an order of its
// own: a container's streams are two pipes.
func logEnded(f *fixture) {
	const text = "one\ntwo\nthree"
	a := f.attempt(task{`run: "echo one; echo two; printf three; exit 1"`, Behaviour{Log: text, Ends: failed(1)}})
	o := f.ends(a, run.Failure)
	for range 2 {
		if log := f.log(o); log != text {
			f.t.Errorf("%q", log)
		}
	}
	log, _ := f.follow(o)
	defer log.Close()
	if got, err := io.ReadAll(log); string(got) != text || err != nil {
		f.t.Errorf("followed: %q, %v", got, err)
	}
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	f.hasNoLog(a.Ref, o.ID)
	if log := f.log(f.ends(f.attempt(task{`run: "echo error >&2"`, Behaviour{Log: "error\n"}}), run.Success)); log != "error\n" {
		f.t.Errorf("standard error: %q", log)
	}
}

// A log that is followed goes on until the container has ended, or the context.
func logFollowed(f *fixture) {
	a := f.attempt(trapping)
	o := f.runs(a, "up")
	gives, giveUp := f.follow(o)
	defer gives.Close()
	until, _ := f.follow(o)
	defer until.Close()
	for _, log := range []io.Reader{gives, until} {
		line := make([]byte, 3)
		if _, err := io.ReadFull(log, line); string(line) != "up\n" {
			f.t.Fatalf("%q, %v", line, err)
		}
	}
	giveUp()
	if _, err := io.Copy(io.Discard, gives); err == nil {
		f.t.Error("the context ended, and reading it did as if the container had")
	}
	f.Stop(executor.Stop{Ref: a.Ref, ID: o.ID})
	rest, err := io.ReadAll(until)
	if len(rest) > 0 {
		f.t.Errorf("after it has ended: %q, %v", rest, err)
	}
}

// There is no log of what never started, or never was.
func noLog(f *fixture) {
	f.hasNoLog(run.Ref{Run: newRun(), Step: "s0", Attempt: 1}, "")
	a := f.attempt(trapping)
	f.hasNoLog(a.Ref, "")
	f.goes(a.Ref, executor.Stop{})
	f.hasNoLog(a.Ref, "")
}
