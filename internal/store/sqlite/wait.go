package sqlite

import (
	"context"
	"time"
)

// lookEvery is how often another process's writing is looked for. This process's own is told at once.
const lookEvery = 150 * time.Millisecond

// until calls holds until it is true: at once, and then whenever something was written.
func (s *Store) until(ctx context.Context, holds func() (bool, error)) error {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// SQLite counts, for one connection, what others have committed (PRAGMA data_version).
	version := func() (n int64, err error) {
		err = conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&n)
		return n, err
	}
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		before, err := version()
		if err != nil {
			return s.explain("read", err)
		}
		if ok, err := holds(); ok || err != nil {
			return err
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-t.C:
				now, err := version()
				if err != nil {
					return s.explain("read", err)
				}
				waiting = now == before
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}
