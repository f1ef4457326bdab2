package local

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// Options say where things are. Now and Log are optional.
type Options struct {
	Dir    string // of the executor's own, for logs, records and workspaces
	Source string // folder that workspaces are copies of; "": the current one
	Now    func() time.Time
	Log    *slog.Logger
}

// Executor is an executor.Executor.
type Executor struct {
	Options
	node    string         // what this machine is called
	working sync.WaitGroup // attempts that run or are being removed

	mu       sync.Mutex // of all that follows
	attempts map[run.Ref]*attempt
	spaces   map[string]*workspace
	running  bool // else nothing is begun, since Run has not been called or is ending
	outbox   outbox
}

var _ executor.Executor = (*Executor)(nil)

// New makes an executor. It touches nothing until Run.
func New(o Options) *Executor {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	node, err := os.Hostname()
	if err != nil {
		node = "localhost"
	}
	return &Executor{Options: o, node: node, attempts: map[run.Ref]*attempt{}, spaces: map[string]*workspace{}, outbox: newOutbox()}
}

// Run takes in what a former berth has left, and works until the context ends.
func (e *Executor) Run(ctx context.Context, r executor.Reporter) error {
	if err := e.absolute(); err != nil {
		return err
	}
	if err := os.MkdirAll(e.Dir, 0o700); err != nil {
		return fmt.Errorf("the local executor has no folder: %w", err)
	}
	e.mu.Lock()
	e.running = true
	e.takeIn()
	e.outbox.put(nil)
	e.mu.Unlock()

	e.deliver(ctx, r)
	e.mu.Lock()
	e.running = false
	for _, a := range e.attempts { // in any order
		if a.over != nil {
			a.halt(leaveGrace, errLeaving)
		}
	}
	e.mu.Unlock()
	e.working.Wait()
	return nil
}

// absolute has processes find what they are told of, wherever they run.
func (e *Executor) absolute() error {
	for _, folder := range []*string{&e.Dir, &e.Source} {
		abs, err := filepath.Abs(*folder)
		if err != nil {
			return fmt.Errorf("the local executor has no folder: %w", err)
		}
		*folder = abs
	}
	return nil
}

func (e *Executor) folder(ref run.Ref) string {
	return filepath.Join(e.Dir, ref.Run, ref.Step+"-"+strconv.Itoa(ref.Attempt))
}

// report says how an attempt is now. e.mu is held.
func (e *Executor) report(a *attempt, o run.Observation) {
	a.seen = o
	e.say(o)
}

func (e *Executor) say(o run.Observation) {
	if e.running {
		e.outbox.put(&o)
	}
}

// Start starts an attempt.
func (e *Executor) Start(job executor.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.running || e.attempts[job.Ref] != nil {
		return
	}
	a := newAttempt(job)
	e.attempts[job.Ref] = a
	if why := unsupported(&job); why != "" {
		e.refuse(a, run.Outcome{Reason: reason.LocalUnsupported, Message: why, Final: true})
		return
	}
	a.seen = run.Observation{Ref: job.Ref, Fence: job.Fence, Phase: run.PhaseWaiting,
		Waiting: &run.Waiting{Reason: reason.Starting, Message: "its process is being started", Since: e.Now()}}
	a.over = make(chan struct{})
	e.working.Go(func() { e.carryOut(a) })
}

// refuse says that an attempt has no object, and why. e.mu is held.
func (e *Executor) refuse(a *attempt, why run.Outcome) {
	why.Class = run.NeverStarted
	e.report(a, run.Observation{Ref: a.job.Ref, Phase: run.PhaseGone, Refused: &why})
}

// unsupported says what of a step this machine can't do. Admission refuses it first.
func unsupported(job *executor.Attempt) string {
	s := job.Spec
	switch {
	case len(s.K8sOverlay) > 0:
		return "k8s_overlay is for pods"
	case len(s.Secrets) > 0:
		return "secrets are a cluster's"
	case s.ServiceAccount != "":
		return "service_account is a cluster's"
	case len(s.Work.Command) == 0:
		return "the step has no command"
	}
	for _, service := range s.Work.Services {
		if len(service.Command) == 0 {
			return "the service " + service.Name + " has no command, and on this machine there is no image to take one from"
		}
	}
	return ""
}
