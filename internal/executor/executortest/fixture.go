package executortest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// fixture is an executor at work, and what it reports.
type fixture struct {
	executor.Executor
	*Recorder
	t    *testing.T
	h    *Harness
	open Open
	stop func()
	refs []run.Ref // that were made
}

func newFixture(t *testing.T, h *Harness) *fixture {
	f := &fixture{t: t, h: h, open: h.Fresh(t)}
	f.begin()
	return f
}

// begin opens an executor, and waits until it knows what there is.
func (f *fixture) begin() {
	f.t.Helper()
	e, r := f.open(), NewRecorder(f.t)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		err := e.Run(ctx, r)
		r.Close()
		over <- err
	}()
	f.Executor, f.Recorder = e, r
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-over; err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(f.stop)
	r.UntilSynced()
}

// restart lets another executor go on with what this one leaves.
func (f *fixture) restart() {
	f.t.Helper()
	f.stop()
	f.begin()
}

// leave removes what a test has made, as the engine would.
func (f *fixture) leave() {
	f.t.Helper()
	zero := int64(0)
	runs := map[string]bool{}
	for _, ref := range f.refs {
		f.Stop(executor.Stop{Ref: ref, Grace: &zero})
		runs[ref.Run] = true
	}
	for _, ref := range f.refs {
		f.goes(ref, executor.Stop{Grace: &zero})
	}
	for id := range runs { // in any order
		if err := f.FinishRun(f.t.Context(), id); err != nil {
			f.t.Error(err)
		}
	}
}

// number makes ids of runs unique.
var number atomic.Int64

func newRun() string { return fmt.Sprintf("01RVN%021d", number.Add(1)) }

// task is a step: as the pipeline file has it after its name, with IMAGE for the harness's image, and what becomes of it where nothing reads that.
type task struct {
	body string
	is   Behaviour
}

// attempt is the first attempt of a step in a run of its own.
func (f *fixture) attempt(todo task) executor.Attempt {
	f.t.Helper()
	return f.attempts("", todo)[0]
}

// attempts are the first attempts of the steps of one run, which have the ids s0, s1 and so on. Header is what
// the pipeline says beside its steps.
func (f *fixture) attempts(header string, todo ...task) []executor.Attempt {
	f.t.Helper()
	p := f.plan(header, todo)
	id := newRun()
	var all []executor.Attempt
	for i := range p.Steps {
		a := executor.Attempt{Ref: run.Ref{Run: id, Step: p.Steps[i].ID, Attempt: 1}, Fence: int64(7 + i), Pipeline: p.Pipeline,
			Spec: &p.Steps[i], Texts: map[string]string{}, Workspace: p.Workspace}
		if f.h.Behave != nil {
			f.h.Behave(a.Ref, todo[i].is)
		}
		f.refs = append(f.refs, a.Ref)
		all = append(all, a)
	}
	return all
}

// plan makes the plan of the steps.
func (f *fixture) plan(header string, todo []task) *plan.Plan {
	f.t.Helper()
	image := f.h.Image
	if image == "" {
		image = "busybox"
	}
	text := fmt.Sprintf("version: 1\nname: conformance\n%sdefaults: {image: %q}\nsteps:\n", header, image)
	for i, t := range todo {
		body := strings.ReplaceAll(t.body, "IMAGE", image)
		text += fmt.Sprintf("  - name: s%d\n    %s\n", i, strings.ReplaceAll(body, "\n", "\n    "))
	}
	operator := profile.Empty()
	if f.h.Operator != "" {
		loaded, findings := profile.Load("operator.yaml", []byte(f.h.Operator))
		if loaded == nil {
			f.t.Fatal(findings.Text(nil))
		}
		operator = loaded
	}
	file, findings := pipeline.Parse("pipeline.yaml", []byte(text), pipeline.Options{})
	if file == nil {
		f.t.Fatalf("%s\n%s", findings.Text(nil), text)
	}
	out := plan.Make(file, operator, pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		f.t.Fatalf("%s\n%s", out.Findings.Text(nil), text)
	}
	return out.Plan
}

// ends starts an attempt and waits for its end, which must be of a class.
func (f *fixture) ends(a executor.Attempt, class run.Class) run.Observation {
	f.t.Helper()
	f.Start(a)
	o := f.UntilPhase(a.Ref, run.PhaseEnded)
	if o.End == nil || o.End.Class != class {
		f.t.Fatalf("%s, want %s: %+v %+v", o.Phase, class, o, o.End)
	}
	return o
}

// runs starts an attempt and waits until it has written a line, which is its log's first.
func (f *fixture) runs(a executor.Attempt, line string) run.Observation {
	f.t.Helper()
	f.Start(a)
	o := f.UntilPhase(a.Ref, run.PhaseRunning)
	if o.Phase != run.PhaseRunning {
		f.t.Fatalf("it does not run: %+v %+v", o, o.End)
	}
	log, _ := f.follow(o)
	defer log.Close()
	if got, err := bufio.NewReader(log).ReadString('\n'); got != line+"\n" {
		f.t.Fatalf("the log begins with %q, %v", got, err)
	}
	return o
}

// follow opens a log that goes on. Where it can't be had at once, it is asked for again with each observation.
func (f *fixture) follow(o run.Observation) (io.ReadCloser, context.CancelFunc) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	f.t.Cleanup(cancel)
	log, err := f.Log(ctx, o.Ref, o.ID, true)
	if err != nil {
		f.t.Fatal(err)
	}
	return log, cancel
}

// log reads the whole log.
func (f *fixture) log(o run.Observation) string {
	f.t.Helper()
	log, err := f.Log(f.t.Context(), o.Ref, o.ID, false)
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close()
	text, err := io.ReadAll(log)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// hasNoLog says that there is no log to be had of an attempt.
func (f *fixture) hasNoLog(ref run.Ref, id string) {
	f.t.Helper()
	log, err := f.Log(f.t.Context(), ref, id, false)
	if err == nil {
		log.Close()
	}
	if !errors.Is(err, executor.ErrNoLog) {
		f.t.Errorf("its log: %v", err)
	}
}

// goes stops an attempt, and waits until it is gone. As the engine does it stops it once more when it has ended:
// its log was read by then.
func (f *fixture) goes(ref run.Ref, s executor.Stop) run.Observation {
	f.t.Helper()
	s.Ref = ref
	f.Stop(s)
	if o := f.UntilPhase(ref, run.PhaseEnded); o.Phase == run.PhaseEnded {
		f.Stop(executor.Stop{Ref: ref, ID: o.ID})
	}
	return f.UntilPhase(ref, run.PhaseGone)
}
