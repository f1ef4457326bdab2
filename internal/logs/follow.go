package logs

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/berthdev/berth/internal/executor"
)

// Source opens a log. The error may be executor.ErrNoLog.
type Source = func(ctx context.Context) (io.ReadCloser, error)

// follow is a log being followed: copied into a spool, until it ends.
type follow struct {
	source  Source
	spool   *spool
	cancel  context.CancelFunc
	open    chan struct{} // closed when the log has been opened for the first time, or could not be
	ended   chan struct{} // closed when the attempt has ended: what breaks off now is not begun again
	done    chan struct{} // closed when the spool is over
	whole   bool          // the spool has had all of it; to be looked at when done is closed
	readers int           // the hub's
}

// A follow that breaks off is begun again, after a pause that doubles.
const (
	firstPause = time.Second
	mostPause  = 30 * time.Second
)

const brokenOff = "\n[the log could not be followed to its end]\n"

func (f *follow) run(ctx context.Context) {
	defer close(f.done)
	defer f.spool.end()
	unbroken := true
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := f.copy(ctx)
		if err == nil {
			f.whole = unbroken && ctx.Err() == nil
			return
		}
		unbroken = false
		if _, failed := f.spool.written(); failed != nil || errors.Is(err, executor.ErrNoLog) {
			return
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-f.ended:
			_ = f.spool.write([]byte(brokenOff)) // which is not kept: those who watch are told
		case <-ctx.Done():
		}
		timer.Stop()
		return
	}
}

// opened is called by one goroutine.
func (f *follow) opened() {
	select {
	case <-f.open:
	default:
		close(f.open)
	}
}

// copy reads the log from its beginning, and writes what is new of it. If the beginning is not there any more,
// something is lost to those who watch; what is kept in the end is read anew.
func (f *follow) copy(ctx context.Context) error {
	stream, err := f.source(ctx)
	f.opened()
	if err != nil {
		return err
	}
	defer stream.Close()
	had, _ := f.spool.written()
	if _, err := io.CopyN(io.Discard, stream, had); err != nil {
		return err
	}
	_, err = f.spool.ReadFrom(stream)
	return err
}

// tail reads a spool from its beginning, and waits at the end until nothing more comes.
type tail struct {
	ctx     context.Context
	spool   *spool
	at      int64
	pending string
	close   func()
}

func (t *tail) Read(p []byte) (int, error) {
	for {
		if len(p) == 0 || t.pending != "" {
			n := copy(p, t.pending)
			t.pending = t.pending[n:]
			return n, nil
		}
		n, from, grown, err := t.spool.read(p, t.at)
		switch {
		case err != nil:
			return 0, err
		case n > 0:
			t.at += int64(n)
			return n, nil
		case from > t.at:
			if t.pending = missing(from); t.at > 0 {
				t.pending = "\n" + t.pending
			}
			t.at = from
			continue
		case grown == nil:
			return 0, io.EOF
		}
		select {
		case <-grown:
		case <-t.ctx.Done():
			return 0, t.ctx.Err()
		}
	}
}

func (t *tail) Close() error {
	t.close()
	return nil
}
