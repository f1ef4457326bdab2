package sqlite

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/store"
)

// Lead takes the lock, and a new epoch. The kernel gives the lock up when the process ends, however it does.
func (s *Store) Lead(ctx context.Context, holder string) (store.Epoch, error) {
	if s.lock == nil {
		f, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return 0, s.explain("lock", err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			defer f.Close()
			if !errors.Is(err, unix.EWOULDBLOCK) {
				return 0, s.explain("lock", err)
			}
			text := make([]byte, 512)
			n, _ := f.ReadAt(text, 0)
			return 0, &store.HeldError{Holder: strings.TrimSpace(string(text[:n]))}
		}
		s.lock = f
	}
	if err := s.lock.Truncate(0); err != nil {
		return 0, s.explain("lock", err)
	}
	if _, err := s.lock.WriteAt([]byte(holder+"\n"), 0); err != nil {
		return 0, s.explain("lock", err)
	}
	var text string
	err := s.write.QueryRowContext(ctx, `UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch' RETURNING value`).Scan(&text)
	if err != nil {
		return 0, s.explain("lock", err)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return store.Epoch(n), err
}
