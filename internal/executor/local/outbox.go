package local

import (
	"context"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// outbox has what the reporter was not told yet, oldest first; nil says that all there was has been observed.
// It is told of nothing under Executor.mu, so that it may ask for more right then.
type outbox struct {
	letters []*run.Observation
	filled  chan struct{} // has one if there may be letters
}

func newOutbox() outbox { return outbox{filled: make(chan struct{}, 1)} }

// put is called with Executor.mu held.
func (b *outbox) put(o *run.Observation) {
	b.letters = append(b.letters, o)
	select {
	case b.filled <- struct{}{}:
	default:
	}
}

// deliver reports until the context ends.
func (e *Executor) deliver(ctx context.Context, r executor.Reporter) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.outbox.filled:
		}
		e.mu.Lock()
		letters := e.outbox.letters
		e.outbox.letters = nil
		e.mu.Unlock()
		for _, o := range letters {
			switch {
			case ctx.Err() != nil:
				return
			case o == nil:
				r.Synced()
			default:
				r.Observe(*o)
			}
		}
	}
}
