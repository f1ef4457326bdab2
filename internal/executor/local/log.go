package local

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Log reads what the step has written.
func (e *Executor) Log(ctx context.Context, ref run.Ref, id string, follow bool) (io.ReadCloser, error) {
	e.mu.Lock()
	a := e.attempts[ref]
	e.mu.Unlock()
	if a == nil || id != "" && id != e.idOf(a) {
		return nil, executor.ErrNoLog
	}
	f, err := os.Open(filepath.Join(e.folder(ref), logFile))
	if err != nil {
		return nil, executor.ErrNoLog
	}
	if !follow || a.over == nil {
		return f, nil
	}
	return &follower{file: f, ctx: ctx, over: a.over}, nil
}

func (e *Executor) idOf(a *attempt) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return a.seen.ID
}

// lookEvery is how often a file that is followed is looked at.
const lookEvery = 100 * time.Millisecond

// follower reads a file that grows until the attempt is over. The file is not embedded: its WriteTo, which
// io.Copy would take, ends where the file does now.
type follower struct {
	file *os.File
	ctx  context.Context
	over <-chan struct{}
}

func (f *follower) Read(p []byte) (int, error) {
	for {
		last := false // nothing is written after this look
		select {
		case <-f.over:
			last = true
		default:
		}
		n, err := f.file.Read(p)
		if n > 0 || err != io.EOF || last {
			return n, err
		}
		t := time.NewTimer(lookEvery)
		select {
		case <-f.over:
		case <-t.C:
		case <-f.ctx.Done():
		}
		t.Stop()
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
	}
}

func (f *follower) Close() error { return f.file.Close() }
