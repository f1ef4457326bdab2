package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/engine"
	"github.com/berthdev/berth/internal/logs"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/sqlite"
)

// work is an engine with all that it works with, for as long as the command lasts. This is where the parts are
// put together.
type work struct {
	cmd    *cobra.Command
	folder string
	store  *sqlite.Store
	target target
	output string

	name    string // of the target, in the state
	rules   *rules
	archive *logs.Archive
	engine  *engine.Engine
	stop    context.CancelFunc
	ended   chan error // of the engine
	shown   shownLogs
}

// open makes the parts, and takes the lease.
func (w *work) open(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(w.cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	var err error
	if w.rules, err = newRules(w.target.Operator, log); err != nil {
		return err
	}
	executor, name, err := w.target.open(w.folder, w.store.Instance(), log)
	if err != nil {
		return err
	}
	w.name = name
	if w.archive, err = openArchive(ctx, archiveAt(w.rules.file(), w.folder), w.folder); err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.stop = stop
	follow := w.rules.file().Logs.Follow || w.output != "json"
	w.shown.hub = logs.NewHub(running, w.archive, follow)
	w.engine, err = engine.New(ctx, engine.Options{Store: w.store, Executor: executor, Target: name, Logs: &w.shown, Operator: w.rules.file,
		Holder: holder(), Kept: kept, Log: log})
	if err != nil {
		stop()
		return inUse(err, w.folder)
	}
	w.ended = make(chan error, 1)
	go func() { w.ended <- w.engine.Run(running) }()
	return nil
}

// kept says whether a run was asked to leave its objects.
func kept(data engine.Setup) bool {
	var s setup
	return json.Unmarshal(data, &s) == nil && s.Keep
}

func (w *work) close() {
	w.stop()
	if w.ended != nil {
		<-w.ended
	}
	w.archive.Close()
}

// seeThrough shows a run until it has ended and nothing is left of it. The error is how it ended.
func (w *work) seeThrough(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	left := make(chan struct{})
	go w.onSignals(ctx, signals, id, left, cancel)

	code, err := w.follow(ctx, id)
	if errors.Is(err, context.Canceled) {
		select {
		case <-left:
			return &codeError{exitCancelled, errors.New("left at once: pods are removed on the next start of \"berth run\" or \"berth resume\" with this state")}
		case err := <-w.ended:
			w.ended <- err
			return &codeError{exitNoService, err}
		default:
		}
	}
	if err != nil {
		return &codeError{exitNoService, err}
	}
	return said(code)
}

// onSignals cancels the run on the first signal, and leaves at once on the second, or when the engine ends.
func (w *work) onSignals(ctx context.Context, signals <-chan os.Signal, id string, left chan<- struct{}, cancel func()) {
	var asked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-w.ended:
			w.ended <- err
			cancel()
			return
		case <-signals:
		}
		switch {
		case asked.IsZero():
		case time.Since(asked) < twice: // one wish that came twice: to the program, and to its group
			continue
		default:
			close(left)
			cancel()
			return
		}
		asked = time.Now()
		w.shown.note("cancelling; Ctrl-C again leaves at once, and what is left over is removed on the next start")
		if err := w.store.Cancel(ctx, id, run.Cancel{By: userName()}); err != nil {
			w.shown.note("%v", err)
		}
	}
}

func userName() string {
	for _, name := range []string{"USER", "LOGNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return ""
}

// glance is how long what happens is gathered before it is shown: nobody sees the difference, and a busy run is read
// from the state less often.
const glance = 30 * time.Millisecond

// follow shows one run from its beginning until nothing is left of it, and gives the exit code.
func (w *work) follow(ctx context.Context, id string) (int, error) {
	d, err := w.store.Run(ctx, id)
	if err != nil {
		return 0, err
	}
	v := w.view(d)
	defer v.close()
	w.shown.show(d, v)
	if w.output != "json" {
		v.note("run %s of %s, on %s", id, d.Pipeline, w.name)
	}
	after := int64(0)
	for ended := false; !ended; {
		if err := w.store.Wait(ctx, id, after); err != nil {
			return 0, err
		}
		events, err := w.store.Events(ctx, id, after, 500)
		if err != nil {
			return 0, err
		}
		for _, e := range events {
			after = e.Number
			if e.Kind == run.KindStep && run.StepStatus(e.Status).Ended() {
				w.shown.drain(ctx, run.Ref{Run: id, Step: e.Step, Attempt: e.Attempt})
			}
			v.event(e)
			ended = ended || e.Kind == run.KindRun && run.Status(e.Status).Ended()
		}
		if !ended {
			select {
			case <-time.After(glance):
			case <-ctx.Done():
			}
		}
	}
	if err := w.engine.Settle(ctx, id); err != nil {
		return 0, err
	}
	v.close()
	if d, err = w.store.Run(context.WithoutCancel(ctx), id); err != nil {
		return 0, err
	}
	if w.output != "json" {
		if err := printRun(w.cmd.OutOrStdout(), w.store, d); err != nil {
			return 0, err
		}
	}
	return endCode(d.Status), nil
}

func endCode(s run.Status) int {
	switch s {
	case run.Succeeded:
		return exitOK
	case run.Cancelled:
		return exitCancelled
	case run.Rejected:
		return exitRefused
	}
	return exitFailed
}

// view is how the run is shown.
func (w *work) view(d *store.Detail) view {
	out := w.cmd.OutOrStdout()
	if w.output == "json" {
		return &jsonView{out: out, err: w.cmd.ErrOrStderr()}
	}
	l := newLines(stepNames(d), colours(out))
	if f, ok := out.(*os.File); ok && isTerminal(out) && os.Getenv("TERM") != "dumb" {
		return newLiveView(f, stepIDs(d), l)
	}
	return newPlainView(out, l)
}

// stepNames gives the names of a run's steps to people, by ID.
func stepNames(d *store.Detail) map[string]string {
	names := map[string]string{}
	for _, s := range d.Plan.Steps {
		names[s.ID] = s.Name
	}
	return names
}

// stepIDs gives the IDs of a run's steps, in their order.
func stepIDs(d *store.Detail) []string {
	ids := make([]string, len(d.Plan.Steps))
	for i, s := range d.Plan.Steps {
		ids[i] = s.ID
	}
	return ids
}

// shownLogs hands logs to the hub, and their lines to the view.
type shownLogs struct {
	hub *logs.Hub

	mu    sync.Mutex
	run   string                    // that is shown; the engine has others too
	view  view                      // nil: none is shown yet
	names map[string]string         // of its steps, by ID
	tails map[run.Ref]chan struct{} // closed when all of it was shown
}

// show has the logs of a run shown from now on.
func (s *shownLogs) show(d *store.Detail, v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.view, s.names, s.tails = d.ID, v, stepNames(d), map[run.Ref]chan struct{}{}
}

// note says something where the run is shown.
func (s *shownLogs) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view != nil {
		s.view.note(format, args...)
	}
}

// Started begins to show a log.
func (s *shownLogs) Started(ref run.Ref, follow engine.Source) {
	s.hub.Started(ref, follow)
	s.tail(ref)
}

// Ending has what a log still gets followed.
func (s *shownLogs) Ending(ctx context.Context, ref run.Ref, follow engine.Source) {
	s.hub.Ending(ctx, ref, follow)
}

// tail shows a log once.
func (s *shownLogs) tail(ref run.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view
	if _, json := v.(*jsonView); json || ref.Run != s.run || s.tails[ref] != nil {
		return
	}
	done := make(chan struct{})
	s.tails[ref] = done
	name := s.names[ref.Step]
	go func() {
		defer close(done)
		r, err := s.hub.Tail(context.Background(), ref)
		if err != nil {
			return
		}
		defer r.Close()
		_ = logs.Lines(r, func(line string) { v.log(name, line) })
	}()
}

// Collect keeps a log, and shows it if it ended before it was seen to run.
func (s *shownLogs) Collect(ctx context.Context, ref run.Ref, read engine.Source) error {
	err := s.hub.Collect(ctx, ref, read)
	s.tail(ref)
	return err
}

// drain waits until a log that is being shown was shown to its end.
func (s *shownLogs) drain(ctx context.Context, ref run.Ref) {
	s.mu.Lock()
	done := s.tails[ref]
	s.mu.Unlock()
	if done == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logPatience)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// logPatience is how long an end waits to be shown after the log that led to it.
const logPatience = 2 * time.Second

// twice is within what time two signals are one.
const twice = 300 * time.Millisecond
