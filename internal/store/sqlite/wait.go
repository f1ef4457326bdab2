package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// lookEvery is how often another process's writing is looked for. This process's own is told at once.
const lookEvery = 100 * time.Millisecond

// matter is what is written, as far as it matters to those who wait.
type matter int

const (
	ofRuns    matter = iota // their events
	ofLeaders               // what the leader is to take up: runs and cancellations
	matters
)

// watch tells those who wait that something was written. However many they are, other processes are looked
// for once, and not at all while nobody waits.
type watch struct {
	db *sql.DB

	mu      sync.Mutex
	changed [matters]chan struct{} // closed and replaced by tell
	waiting int                    // how many wait
	stop    context.CancelFunc
	closed  bool
}

// until calls holds until it is true: at once, and then whenever something of the matter was written.
func (w *watch) until(ctx context.Context, m matter, holds func() (bool, error)) error {
	if ok, err := holds(); ok || err != nil {
		return err
	}
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.leave()
	for {
		changed, err := w.next(m)
		if err != nil {
			return err
		}
		if ok, err := holds(); ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next gives what is closed when something is written from now on.
func (w *watch) next(m matter) (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errClosed
	}
	if w.changed[m] == nil {
		w.changed[m] = make(chan struct{})
	}
	return w.changed[m], nil
}

// tell wakes those who wait for one of the matters.
func (w *watch) tell(about ...matter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range about {
		if w.changed[m] != nil {
			close(w.changed[m])
			w.changed[m] = nil
		}
	}
}

// enter counts one who waits. The first of them has other processes looked for, from this moment on.
func (w *watch) enter(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	if w.waiting == 0 {
		conn, err := w.db.Conn(ctx)
		if err != nil {
			return err
		}
		seen, err := commits(conn)
		if err != nil {
			conn.Close()
			return err
		}
		var looking context.Context
		looking, w.stop = context.WithCancel(within)
		go w.look(looking, conn, seen)
	}
	w.waiting++
	return nil
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting--; w.waiting == 0 {
		w.stop()
	}
}

// look tells what other processes write: SQLite counts, for one connection, what others have committed.
func (w *watch) look(ctx context.Context, conn *sql.Conn, seen int64) {
	defer conn.Close()
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		now, err := commits(conn)
		if err != nil || now != seen { // an error is found again by those who wait, and is theirs to report
			w.tell(ofRuns, ofLeaders)
		}
		seen = now
	}
}

func commits(conn *sql.Conn) (n int64, err error) {
	err = conn.QueryRowContext(within, `PRAGMA data_version`).Scan(&n)
	return n, err
}

// close ends all waiting.
func (w *watch) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.tell(ofRuns, ofLeaders)
}
