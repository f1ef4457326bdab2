package engine

import "sync"

// mailbox is how messages reach the loop. Putting one in never waits: an executor may report while the loop
// is asking it for something.
type mailbox struct {
	mu   sync.Mutex
	all  []message
	wake chan struct{} // has one if there may be messages
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (b *mailbox) put(m message) {
	b.mu.Lock()
	b.all = append(b.all, m)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take gives the oldest messages, at most so many.
func (b *mailbox) take(most int) []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(most, len(b.all))
	taken := b.all[:n:n]
	b.all = b.all[n:]
	if len(b.all) == 0 {
		b.all = nil
	} else {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return taken
}
