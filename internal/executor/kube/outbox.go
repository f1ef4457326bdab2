package kube

import (
	"context"
	"sync"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// outbox hands observations to the reporter, one after the other. An observation says all that is known, so
// that one which was not delivered yet is replaced by the next: a slow reporter holds up no watch, and gets
// fewer of them.
type outbox struct {
	letters []letter
	filled  chan struct{} // of capacity 1
}

// letter is an attempt with news, or, if it is nil, the word that all there was has been observed.
type letter struct{ *attempt }

func (b *outbox) init() { b.filled = make(chan struct{}, 1) }

// put is called under the executor's lock.
func (b *outbox) put(a *attempt) {
	if a != nil {
		if a.news || a.held() || a.seen.Phase == "" {
			return
		}
		a.news = true
	}
	b.letters = append(b.letters, letter{a})
	select {
	case b.filled <- struct{}{}:
	default:
	}
}

func (b *outbox) deliver(ctx context.Context, mu *sync.Mutex, r executor.Reporter) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.filled:
		}
		mu.Lock()
		letters := b.letters
		b.letters = nil
		mu.Unlock()
		for _, l := range letters {
			if ctx.Err() != nil {
				return
			}
			if l.attempt == nil {
				r.Synced()
				continue
			}
			mu.Lock()
			o := l.take()
			mu.Unlock()
			r.Observe(o)
		}
	}
}

// take gives what is to be reported, and keeps only what is needed after that.
func (l letter) take() run.Observation {
	a := l.attempt
	a.news = false
	o := a.seen
	a.seen.Cluster = nil
	if a.gone() {
		a.seen = run.Observation{Ref: a.ref, ID: o.ID, Phase: run.PhaseGone}
	}
	return o
}
