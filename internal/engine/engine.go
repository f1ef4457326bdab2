package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// Options are what an engine works with. All fields without "optional" must be set.
type Options struct {
	Store    store.Store
	Executor executor.Executor
	Target   string // runs of this target are the engine's; see store.Submission
	Logs     Logs
	Operator func() *profile.File // the operator file in force: another value once it has changed; called before each start

	Holder string           // who this is, for whoever finds the lease taken
	Kept   func(Setup) bool // optional: whether a run's objects are left alone when it has ended
	Now    func() time.Time // optional
	Log    *slog.Logger     // optional
}

// Setup is a run's setup, as it was submitted.
type Setup = []byte

// Logs is where the logs of attempts go.
type Logs interface {
	// Started says that an attempt's container runs, and how its log can be followed.
	Started(ref run.Ref, follow Source)
	// Ending says that an attempt which runs is being ended, so that its object may be gone as soon as its container
	// is: what it still writes can only be had by following it. It returns when that has begun, or can't be.
	Ending(ctx context.Context, ref run.Ref, follow Source)
	// Collect archives the log of an attempt that has ended. Nothing to archive is no error.
	Collect(ctx context.Context, ref run.Ref, read Source) error
}

// Source opens a log. The error may be executor.ErrNoLog.
type Source = func(ctx context.Context) (io.ReadCloser, error)

// Engine runs the runs of one target.
type Engine struct {
	Options
	epoch store.Epoch
	inbox *mailbox
}

// New takes the lease. The error is the store's: *store.HeldError if another process has it.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Kept == nil {
		o.Kept = func(Setup) bool { return false }
	}
	epoch, err := o.Store.Lead(ctx, o.Holder)
	if err != nil {
		return nil, err
	}
	return &Engine{Options: o, epoch: epoch, inbox: newMailbox()}, nil
}

// Run works until the context ends, which is no error. Errors are what trying again can't mend: the lease
// is lost, or the executor may not do what it must.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l, err := e.load(ctx)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	l.waits.Go(func() {
		if err := e.Executor.Run(ctx, reporter{e, ctx}); err != nil {
			cancel(err)
		}
	})
	l.waits.Go(func() { e.listen(ctx, l.last) })
	err = l.work(ctx)
	cancel(err)
	l.waits.Wait()
	if cause := context.Cause(ctx); err == nil && cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Settle waits until nothing is left to do for a run: it has ended, and its objects are gone or kept. From
// now on keep times are over at once.
func (e *Engine) Settle(ctx context.Context, id string) error {
	reply := make(chan struct{})
	e.inbox.put(settle{id, reply})
	select {
	case <-reply:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reporter hands the loop what the executor has to say.
type reporter struct {
	e   *Engine
	ctx context.Context
}

func (r reporter) Observe(o run.Observation) { r.e.inbox.put(observed{o}) }
func (r reporter) Synced()                   { r.e.inbox.put(synced{}) }

// errSuperseded says that an attempt is not to be created any more.
var errSuperseded = errors.New("the attempt has been decided otherwise")

func (r reporter) Fence(ctx context.Context, ref run.Ref) (int64, error) {
	reply := make(chan int64, 1)
	r.e.inbox.put(fenceRequest{ref, reply})
	select {
	case fence := <-reply:
		if fence == 0 {
			return 0, errSuperseded
		}
		return fence, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// listen passes on what others ask of whoever leads.
func (e *Engine) listen(ctx context.Context, after string) {
	for {
		asked, err := e.Store.Requests(ctx, e.epoch, after)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			e.Log.Warn("the store can't be read; trying again", "error", err)
			if !pause(ctx, time.Second) {
				return
			}
			continue
		}
		if n := len(asked.Submitted); n > 0 {
			after = asked.Submitted[n-1]
		}
		taken := make(chan struct{})
		e.inbox.put(requests{asked, taken})
		select {
		case <-taken:
		case <-ctx.Done():
			return
		}
	}
}

// pause waits, and says whether the context still holds.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
