package logs

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Hub hands out the logs of attempts that run, and keeps those of attempts that have ended. Its methods may be
// called by several goroutines at once.
type Hub struct {
	archive *Archive
	ctx     context.Context
	always  bool // follow every attempt, and not only while someone reads

	mu      sync.Mutex
	running map[run.Ref]*running
}

// running is an attempt that has begun to run, and whose log was not kept yet.
type running struct {
	source    Source
	follow    *follow       // nil: nobody reads it
	ending    bool          // it is followed to its end, whoever reads it
	collected chan struct{} // nil: not being kept yet; closed when that is over
}

// NewHub makes a hub whose follows end with the context. With always, each attempt is followed from its start,
// and what was followed is kept, instead of reading it at the end.
func NewHub(ctx context.Context, a *Archive, always bool) *Hub {
	return &Hub{archive: a, ctx: ctx, always: always, running: map[run.Ref]*running{}}
}

// Started says that an attempt runs, and how its log can be followed. It may be said again.
func (h *Hub) Started(ref run.Ref, source Source) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running[ref] != nil {
		return
	}
	h.running[ref] = &running{source: source}
	if h.always {
		h.follow(h.running[ref])
	}
}

// Ending follows the log of an attempt to its end, so that Collect need not read it when it may not be there any more. It
// returns when the log is open, or can't be opened. Where nothing is kept it does nothing.
func (h *Hub) Ending(ctx context.Context, ref run.Ref, source Source) {
	if h.archive.bucket == nil {
		return
	}
	h.mu.Lock()
	r := h.running[ref]
	if r == nil {
		r = &running{source: source}
		h.running[ref] = r
	}
	if r.collected != nil {
		h.mu.Unlock()
		return
	}
	r.ending = true
	f := h.follow(r)
	h.mu.Unlock()
	_ = wait(ctx, f.open)
}

// follow gives the attempt's follow, and begins it if need be. h.mu is held.
func (h *Hub) follow(r *running) *follow {
	if r.follow == nil {
		ctx, cancel := context.WithCancel(h.ctx)
		f := &follow{source: r.source, spool: newSpool(h.archive.spool), cancel: cancel,
			open: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{})}
		r.follow = f
		go f.run(ctx)
	}
	return r.follow
}

// Tail reads the log of an attempt from its beginning until it ends, or the context does. That of one which has
// ended comes from the archive. The error is executor.ErrNoLog if there is none (yet). It has to be closed.
func (h *Hub) Tail(ctx context.Context, ref run.Ref) (io.ReadCloser, error) {
	h.mu.Lock()
	r := h.running[ref]
	if r != nil && (r.follow != nil || r.collected == nil) {
		defer h.mu.Unlock()
		f := h.follow(r)
		f.readers++
		f.spool.hold()
		return &tail{ctx: ctx, spool: f.spool, close: sync.OnceFunc(func() { h.left(ref, f) })}, nil
	}
	h.mu.Unlock()
	if r != nil {
		if err := wait(ctx, r.collected); err != nil {
			return nil, err
		}
	}
	return h.archive.Read(ctx, ref)
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// left says that one reads no more. What nobody reads is not followed, unless everything is.
func (h *Hub) left(ref run.Ref, f *follow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.spool.release()
	f.readers--
	if r := h.running[ref]; f.readers == 0 && !h.always && r != nil && !r.ending && r.follow == f && r.collected == nil {
		r.follow = nil
		h.drop(f)
	}
}

// drop ends a follow that is not needed any more.
func (h *Hub) drop(f *follow) {
	f.cancel()
	go func() {
		<-f.done
		f.spool.release()
	}()
}

// followPatience is how long a follow may take to end when its attempt has. Then the log is read instead.
const followPatience = 15 * time.Second

// Collect keeps the log of an attempt that has ended: what was followed, if that is all of it, and else what is
// read now. That there is nothing to read is no error. Afterwards the hub knows nothing more of the attempt,
// whatever came of it.
func (h *Hub) Collect(ctx context.Context, ref run.Ref, read Source) error {
	h.mu.Lock()
	r := h.running[ref]
	if r == nil {
		r = &running{source: read}
		h.running[ref] = r
	}
	if r.collected != nil {
		h.mu.Unlock()
		return wait(ctx, r.collected)
	}
	r.collected = make(chan struct{})
	f := r.follow
	h.mu.Unlock()

	err := h.collect(ctx, ref, f, read)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, ref)
	close(r.collected)
	if f != nil {
		h.drop(f)
	}
	return err
}

func (h *Hub) collect(ctx context.Context, ref run.Ref, f *follow, read Source) error {
	if f != nil && f.end(ctx) {
		return h.archive.store(ctx, ref, f.spool)
	}
	if h.archive.bucket == nil {
		return ctx.Err()
	}
	if has, err := h.archive.Has(ctx, ref); err == nil && has {
		return nil // kept before a restart
	}
	stream, err := read(ctx)
	if errors.Is(err, executor.ErrNoLog) {
		if f == nil || !f.over() {
			return nil
		}
		return h.archive.store(ctx, ref, f.spool) // as much as was followed, which says that it is not all
	}
	if err != nil {
		return err
	}
	defer stream.Close()
	return h.archive.Keep(ctx, ref, stream)
}

// end waits for a follow to end by itself, and says whether its spool has all of the log.
func (f *follow) end(ctx context.Context) bool {
	close(f.ended)
	timer := time.NewTimer(followPatience)
	defer timer.Stop()
	select {
	case <-f.done:
		return f.whole
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// over says whether nothing more comes into the spool.
func (f *follow) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
