package local_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// eye is a Reporter that remembers. What is asked of it waits for the observation.
type eye struct {
	mu     sync.Mutex
	more   *sync.Cond
	all    []run.Observation
	synced int // observations before Synced; -1: not yet
}

func newEye() *eye {
	e := &eye{synced: -1}
	e.more = sync.NewCond(&e.mu)
	return e
}

func (e *eye) Observe(o run.Observation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, o)
	e.more.Broadcast()
}

func (e *eye) Synced() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.synced = len(e.all)
	e.more.Broadcast()
}

func (e *eye) Fence(context.Context, run.Ref) (int64, error) { return 0, errors.New("none is needed") }

// until waits for the first observation of the attempt that is as wanted.
func (e *eye) until(ref run.Ref, wanted func(run.Observation) bool) run.Observation {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := 0; ; i++ {
		for i == len(e.all) {
			e.more.Wait()
		}
		if e.all[i].Ref == ref && wanted(e.all[i]) {
			return e.all[i]
		}
	}
}

func (e *eye) wait(until func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !until() {
		e.more.Wait()
	}
}

func phase(p run.Phase) func(run.Observation) bool {
	return func(o run.Observation) bool { return o.Phase == p }
}

func (e *eye) of(ref run.Ref) (all []run.Observation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.all {
		if o.Ref == ref {
			all = append(all, o)
		}
	}
	return all
}

// berth is an executor that runs.
type berth struct {
	*local.Executor
	*eye
	leave func() // ends it, and waits
}

func begin(t *testing.T, o local.Options) *berth {
	t.Helper()
	if o.Source == "" {
		o.Source = t.TempDir()
	}
	b := &berth{Executor: local.New(o), eye: newEye()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := b.Executor.Run(ctx, b.eye); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	b.leave = func() { cancel(); <-done }
	t.Cleanup(b.leave)
	b.wait(func() bool { return b.synced >= 0 })
	return b
}

// flush waits until all that was to be observed was.
func (b *berth) flush() {
	nobody := run.Ref{Run: "nobody", Step: "s", Attempt: 1}
	b.Confirm(nobody, "")
	b.until(nobody, phase(run.PhaseGone))
}

func script(text string) executor.Attempt {
	return executor.Attempt{Ref: run.Ref{Run: "r", Step: "s", Attempt: 1}, Fence: 7, Pipeline: "p",
		Spec: &plan.Step{ID: "s", Work: plan.Work{Command: texts("sh", "-c", text)}}}
}

func texts(all ...string) (list []plan.Text) {
	for _, t := range all {
		list = append(list, plan.Text{Text: t})
	}
	return list
}

func (b *berth) log(t *testing.T, ref run.Ref, follow bool) string {
	t.Helper()
	f, err := b.Log(t.Context(), ref, "", follow)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// line follows the log until its first line, which tells that the script is that far.
func (b *berth) line(t *testing.T, ref run.Ref) string {
	t.Helper()
	b.until(ref, phase(run.PhaseRunning))
	f, err := b.Log(t.Context(), ref, "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text)
}
