package executortest

import (
	"strings"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// failed is the end of a command with an exit code other than 0.
func failed(code int) run.End {
	return run.End{Outcome: run.Outcome{Class: run.Failure, Reason: reason.ExitCode, ExitCode: &code}}
}

// A step that succeeds: all that there is to be known of it is observed.
func success(f *fixture) {
	a := f.attempt(task{`run: "true"`, Behaviour{}})
	o := f.ends(a, run.Success)
	switch e := o.End; {
	case e.Reason != reason.Completed, e.ExitCode == nil || *e.ExitCode != 0, e.Output != "", e.Cut:
		f.t.Errorf("its end: %+v", e)
	case o.ID == "", o.Node == "", o.ScheduledAt.IsZero(), o.StartedAt.IsZero(), o.Fence != a.Fence:
		f.t.Errorf("%+v", o)
	case e.FinishedAt.Before(o.StartedAt):
		f.t.Errorf("finished at %s, and started at %s", e.FinishedAt, o.StartedAt)
	}
	if o := f.goes(a.Ref, executor.Stop{ID: o.ID}); o.Refused != nil || f.Objects(a.Ref) != 1 {
		f.t.Errorf("%d objects; refused: %+v", f.Objects(a.Ref), o.Refused)
	}
}

func exitCode(f *fixture) {
	e := f.ends(f.attempt(task{`run: exit 3`, Behaviour{Ends: failed(3)}}), run.Failure).End
	if e.Reason != reason.ExitCode || e.ExitCode == nil || *e.ExitCode != 3 || e.Message == "" || e.Final {
		f.t.Errorf("%+v", e)
	}
}

// What is written to $BERTH_OUTPUT is observed as it is, and so it is of a step that fails.
func outputs(f *fixture) {
	const text = "a=1\nb=ü $x\n"
	e := f.ends(f.attempt(task{`run: "printf 'a=1\\nb=ü $x\\n' > $BERTH_OUTPUT; exit 1"`, Behaviour{Ends: with(failed(1), text, false)}}), run.Failure).End
	if e.Output != text || e.Cut {
		f.t.Errorf("%q, cut: %v", e.Output, e.Cut)
	}
}

func with(e run.End, output string, cut bool) run.End {
	e.Output, e.Cut = output, cut
	return e
}

// Outputs are whole below their bound, and said to be cut at it.
func outputsCut(f *fixture) {
	whole, cut := strings.Repeat("a", 4095), strings.Repeat("a", 4096)
	a := f.attempt(task{`run: "head -c 4095 /dev/zero | tr '\\0' a > $BERTH_OUTPUT"`, Behaviour{Ends: with(run.End{}, whole, false)}})
	b := f.attempt(task{`run: "head -c 5000 /dev/zero | tr '\\0' a > $BERTH_OUTPUT"`, Behaviour{Ends: with(run.End{}, cut, true)}})
	if e := f.ends(a, run.Success).End; e.Output != whole || e.Cut {
		f.t.Errorf("%d bytes, cut: %v", len(e.Output), e.Cut)
	}
	if e := f.ends(b, run.Success).End; !e.Cut {
		f.t.Errorf("%d bytes, cut: %v", len(e.Output), e.Cut)
	}
}

// A command that can't be started is the step's own failure, and is not tried again by itself.
func noCommand(f *fixture) {
	start := run.End{Outcome: run.Outcome{Class: run.Failure, Reason: reason.StartError, Message: "no such file"}}
	e := f.ends(f.attempt(task{`command: [/does/not/exist]`, Behaviour{Ends: start}}), run.Failure).End
	if e.Reason != reason.StartError || e.Message == "" {
		f.t.Errorf("%+v", e)
	}
}

// A step has the variables that it says and Berth's own, as they are.
func environment(f *fixture) {
	a := f.attempt(task{"env: {NUMBER: 010, TEXT: \"a  b'\\\"\"}\nrun: 'env; echo \"output:$(cat $BERTH_OUTPUT)\"'", Behaviour{}})
	if f.h.Behave != nil {
		f.h.Behave(a.Ref, Behaviour{Log: "BERTH_ATTEMPT=1\nBERTH_FENCE=7\nBERTH_OUTPUT=/o\nBERTH_PIPELINE=conformance\nBERTH_RUN=" + a.Run +
			"\nBERTH_STEP=s0\nNUMBER=010\nTEXT=a  b'\"\noutput:\n"})
	}
	log := f.log(f.ends(a, run.Success))
	for _, want := range []string{"BERTH_ATTEMPT=1", "BERTH_FENCE=7", "BERTH_PIPELINE=conformance", "BERTH_RUN=" + a.Run,
		"BERTH_STEP=s0", "NUMBER=010", `TEXT=a  b'"`, "output:"} {
		if !strings.Contains("\n"+log, "\n"+want+"\n") {
			f.t.Errorf("no %s in\n%s", want, log)
		}
	}
	if strings.Contains(log, "BERTH_WORKSPACE") || strings.Contains(log, "BERTH_TEST_LEAK") {
		f.t.Errorf("a variable that nobody gave it:\n%s", log)
	}
}

// Nothing in a step's texts is expanded but by its own shell.
func dollars(f *fixture) {
	const text = "$(HOME) $$ $(BERTH_RUN) ${X}"
	a := f.attempt(task{"env: {A: '" + text + "'}\ncommand: [/bin/sh, -c, 'printf \"%s\\n\" \"$A\" \"$1\" ''" + text + "''', sh]\nargs: ['" + text + "']",
		Behaviour{Log: strings.Repeat(text+"\n", 3)}})
	if log := f.log(f.ends(a, run.Success)); log != strings.Repeat(text+"\n", 3) {
		f.t.Errorf("%s", log)
	}
}

// Late texts are what Attempt.Texts says, and are not evaluated again.
func lateTexts(f *fixture) {
	const value = "${{ run.id }} $(HOME)"
	all := f.attempts("", task{"outputs: [y]\nrun: 'true'", Behaviour{}},
		task{"needs: [s0]\nenv: {A: '${{ steps.s0.outputs.y }}'}\nrun: 'echo \"$A\"'", Behaviour{Log: value + "\n"}})
	a := all[1]
	var late plan.Text = a.Spec.Work.Env["A"]
	if !late.Late {
		f.t.Fatalf("%+v", late)
	}
	a.Texts[late.Text] = value
	if log := f.log(f.ends(a, run.Success)); log != value+"\n" {
		f.t.Errorf("%q", log)
	}
}

// A step does not start before its services are ready.
func unready(f *fixture) {
	waits := &run.Waiting{Reason: reason.Initializing, Message: "a service is not ready"}
	a := f.attempt(task{"services: [{name: db, image: IMAGE, command: [sleep, '600'], ready: {exec: ['false']}}]\nrun: 'true'",
		Behaviour{Waiting: waits, Waits: true}})
	f.Start(a)
	o := f.Until(a.Ref, "waits for its service", func(o run.Observation) bool {
		return o.Waiting != nil && o.Waiting.Reason == reason.Initializing
	})
	f.lives() // by then it would have started
	zero := int64(0)
	o = f.goes(a.Ref, executor.Stop{ID: o.ID, Grace: &zero})
	if !o.StartedAt.IsZero() || o.End != nil && o.End.Class != run.NeverStarted {
		f.t.Errorf("%+v %+v", o, o.End)
	}
}
