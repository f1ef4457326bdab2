package logs

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// container is what a step writes to, and a log that can be read and followed.
type container struct {
	mu      sync.Mutex
	text    string
	over    bool
	broken  bool // every follow breaks off where it is, once
	grown   chan struct{}
	follows atomic.Int32 // that were begun
	open    atomic.Int32 // that are under way
	reads   atomic.Int32
}

func newContainer() *container { return &container{grown: make(chan struct{})} }

func (c *container) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	close(c.grown)
	c.grown = make(chan struct{})
}

func (c *container) print(text string) { c.change(func() { c.text += text }) }
func (c *container) exit()             { c.change(func() { c.over = true }) }
func (c *container) breakOff()         { c.change(func() { c.broken = true }) }

func (c *container) follow(ctx context.Context) (io.ReadCloser, error) {
	c.follows.Add(1)
	c.open.Add(1)
	return &stream{c: c, ctx: ctx}, nil
}

func (c *container) read(context.Context) (io.ReadCloser, error) {
	c.reads.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	return io.NopCloser(strings.NewReader(c.text)), nil
}

type stream struct {
	c    *container
	ctx  context.Context
	at   int
	once sync.Once
}

func (s *stream) Read(p []byte) (int, error) {
	for {
		s.c.mu.Lock()
		text, over, broken, grown := s.c.text, s.c.over, s.c.broken, s.c.grown
		s.c.broken = false
		s.c.mu.Unlock()
		n := copy(p, text[s.at:])
		s.at += n
		switch {
		case n > 0:
			return n, nil
		case broken:
			return 0, errors.New("connection reset by peer")
		case over:
			return 0, io.EOF
		}
		select {
		case <-grown:
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
}

func (s *stream) Close() error {
	s.once.Do(func() { s.c.open.Add(-1) })
	return nil
}

func newHub(t *testing.T, always bool) (*Hub, *Archive, *container) {
	t.Helper()
	a, _ := open(t)
	return NewHub(t.Context(), a, always), a, newContainer()
}

func tailOf(t *testing.T, h *Hub) io.ReadCloser {
	t.Helper()
	r, err := h.Tail(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// next reads so many bytes.
func next(t *testing.T, r io.Reader, n int) string {
	t.Helper()
	p := make([]byte, n)
	if _, err := io.ReadFull(r, p); err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// rest reads until the end.
func rest(t *testing.T, r io.ReadCloser) string {
	t.Helper()
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFollowedOnce: any number of readers from the beginning, one follow, and no read in the end.
func TestFollowedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, false)
		h.Started(ref, c.follow)
		h.Started(ref, c.follow)
		synctest.Wait()
		if c.follows.Load() != 0 {
			t.Error("it is followed, and nobody reads")
		}
		c.print("one\n")
		early := tailOf(t, h)
		if got := next(t, early, 4); got != "one\n" {
			t.Errorf("%q", got)
		}
		c.print("two\n")
		late := tailOf(t, h)
		if got := next(t, late, 8); got != "one\ntwo\n" {
			t.Errorf("%q", got)
		}
		c.print("three")
		c.exit()
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		if got := rest(t, early) + "|" + rest(t, late); got != "two\nthree|three" {
			t.Errorf("%q", got)
		}
		if got := kept(t, a); got != "one\ntwo\nthree" {
			t.Errorf("%q", got)
		}
		if got := rest(t, tailOf(t, h)); got != "one\ntwo\nthree" {
			t.Errorf("from the archive: %q", got)
		}
		if c.follows.Load() != 1 || c.reads.Load() != 0 || c.open.Load() != 0 {
			t.Errorf("%d follows, %d reads, %d open", c.follows.Load(), c.reads.Load(), c.open.Load())
		}
	})
}

// TestUnfollowed: when the last reader has gone nothing is followed any more, and the log is read in the end.
func TestUnfollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, false)
		h.Started(ref, c.follow)
		one, two := tailOf(t, h), tailOf(t, h)
		c.print("text")
		next(t, one, 4)
		one.Close()
		one.Close()
		synctest.Wait()
		if c.open.Load() != 1 {
			t.Errorf("%d follows, and one reads", c.open.Load())
		}
		two.Close()
		synctest.Wait()
		if c.open.Load() != 0 {
			t.Error("it is followed, and nobody reads")
		}
		again := tailOf(t, h)
		if got := next(t, again, 4); got != "text" {
			t.Errorf("%q", got)
		}
		again.Close()
		c.exit()
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, a); got != "text" || c.reads.Load() != 1 || c.follows.Load() != 2 {
			t.Errorf("%q, %d reads, %d follows", got, c.reads.Load(), c.follows.Load())
		}
	})
}

// TestEnding: what is being ended is followed to its end, since it can't be read any more when it is gone. What breaks off
// is kept as far as it goes.
func TestEnding(t *testing.T) {
	for want, end := range map[string]func(*container){"text\nbye": func(c *container) { c.print("bye"); c.exit() },
		"text\n" + brokenOff: func(c *container) { synctest.Wait(); c.breakOff(); synctest.Wait() }} {
		synctest.Test(t, func(t *testing.T) {
			h, a, c := newHub(t, false)
			h.Started(ref, c.follow)
			c.print("text\n")
			h.Ending(t.Context(), ref, c.follow)
			if c.open.Load() != 1 {
				t.Errorf("%d follows", c.open.Load())
			}
			tailOf(t, h).Close()
			end(c)
			gone := func(context.Context) (io.ReadCloser, error) { return nil, executor.ErrNoLog }
			if err := h.Collect(t.Context(), ref, gone); err != nil {
				t.Fatal(err)
			}
			if got := kept(t, a); got != want {
				t.Errorf("kept %q, want %q", got, want)
			}
		})
	}
}

// TestAlways: what is followed from the start is kept without a reader and without a read.
func TestAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, true)
		h.Started(ref, c.follow)
		c.print("text")
		tailOf(t, h).Close()
		synctest.Wait()
		c.exit()
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, a); got != "text" || c.reads.Load() != 0 || c.follows.Load() != 1 {
			t.Errorf("%q, %d reads, %d follows", got, c.reads.Load(), c.follows.Load())
		}
	})
}

// TestBreaksOff: a follow that breaks off goes on for those who watch, and the log is read in the end.
func TestBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, false)
		h.Started(ref, c.follow)
		r := tailOf(t, h)
		c.print("one\n")
		next(t, r, 4)
		c.breakOff()
		synctest.Wait()
		c.print("two\n")
		if got := next(t, r, 4); got != "two\n" {
			t.Errorf("%q", got)
		}
		c.exit()
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		if got := rest(t, r); got != "" {
			t.Errorf("%q", got)
		}
		if got := kept(t, a); got != "one\ntwo\n" || c.reads.Load() != 1 || c.follows.Load() != 2 {
			t.Errorf("%q, %d reads, %d follows", got, c.reads.Load(), c.follows.Load())
		}
	})
}

// TestBreaksOffAtTheEnd: those who watch are told that something is missing.
func TestBreaksOffAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, false)
		h.Started(ref, c.follow)
		r := tailOf(t, h)
		c.print("one\n")
		next(t, r, 4)
		c.breakOff()
		synctest.Wait()
		c.print("two\n")
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		if got := rest(t, r); got != brokenOff {
			t.Errorf("%q", got)
		}
		if got := kept(t, a); got != "one\ntwo\n" {
			t.Errorf("%q", got)
		}
	})
}

// TestDoesNotEnd: a follow that goes on after the attempt's end holds nothing up for long.
func TestDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a, c := newHub(t, true)
		h.Started(ref, c.follow)
		c.print("text")
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := kept(t, a); got != "text" || c.reads.Load() != 1 || c.open.Load() != 0 {
			t.Errorf("%q, %d reads, %d open", got, c.reads.Load(), c.open.Load())
		}
	})
}

// TestTailWhileCollecting: who comes then waits for what is kept.
func TestTailWhileCollecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, c := newHub(t, false)
		h.Started(ref, c.follow)
		c.print("text")
		c.exit()
		let := make(chan struct{})
		go h.Collect(t.Context(), ref, func(ctx context.Context) (io.ReadCloser, error) {
			<-let
			return c.read(ctx)
		})
		synctest.Wait()
		got := make(chan string)
		go func() { got <- rest(t, tailOf(t, h)) }()
		synctest.Wait()
		close(let)
		if text := <-got; text != "text" || c.follows.Load() != 0 {
			t.Errorf("%q, %d follows", text, c.follows.Load())
		}
	})
}

func TestCollect(t *testing.T) {
	h, a, c := newHub(t, false)
	none := func(context.Context) (io.ReadCloser, error) { return nil, executor.ErrNoLog }
	if err := h.Collect(t.Context(), ref, none); err != nil {
		t.Errorf("there was no log: %v", err)
	}
	if _, err := h.Tail(t.Context(), ref); !errors.Is(err, executor.ErrNoLog) {
		t.Errorf("there is no log: %v", err)
	}
	broken := errors.New("broken")
	for _, read := range []Source{
		func(context.Context) (io.ReadCloser, error) { return nil, broken },
		func(context.Context) (io.ReadCloser, error) { return io.NopCloser(iotest.ErrReader(broken)), nil },
	} {
		if err := h.Collect(t.Context(), ref, read); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	c.print("text")
	for range 2 {
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
	}
	if got := kept(t, a); got != "text" || c.reads.Load() != 1 {
		t.Errorf("%q, %d reads", got, c.reads.Load())
	}
	other := run.Ref{Run: ref.Run, Step: ref.Step, Attempt: 3}
	if _, err := a.Read(t.Context(), other); !errors.Is(err, executor.ErrNoLog) {
		t.Errorf("another attempt: %v", err)
	}
}

// TestSlowReader: one that is slower than the log is cut is told so, and goes on at the beginning of a line.
func TestSlowReader(t *testing.T) {
	bound(t, 256<<10)
	synctest.Test(t, func(t *testing.T) {
		h, _, c := newHub(t, true)
		h.Started(ref, c.follow)
		r := tailOf(t, h)
		line := strings.Repeat("x", 99) + "\n"
		c.print(line)
		next(t, r, 1)
		c.print(strings.Repeat(line, 3*256<<10/100))
		c.exit()
		if err := h.Collect(t.Context(), ref, c.read); err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(rest(t, r), "\n", 3)
		if parts[0] != "" || !strings.HasPrefix(parts[1], "[the first 256 KiB are missing") || len(parts[2])%100 != 0 || int64(len(parts[2])) < most-200 {
			t.Errorf("%q, and then %d bytes", parts[:2], len(parts[2]))
		}
	})
}
