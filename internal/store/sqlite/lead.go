package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/store"
)

// Lead takes the lock, and a new epoch. The kernel gives the lock up when the process ends, however it does.
func (s *Store) Lead(ctx context.Context, holder string) (store.Epoch, error) {
	if s.readOnly {
		return 0, s.explain("lock", errReadOnly)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, s.explain("lock", errClosed)
	}
	if s.lock == nil {
		f, err := s.take(ctx, false)
		if err != nil {
			return 0, s.explain("lock", err)
		}
		s.lock = f
	}
	if err := name(s.lock, holder); err != nil {
		return 0, s.explain("lock", err)
	}
	var e store.Epoch
	err := s.transact(ctx, func(tx *transaction) error {
		return tx.row(`UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'epoch' RETURNING CAST(value AS INTEGER)`).Scan(&e)
	})
	return e, s.explain("lock", err)
}

// lookAgainEvery is how often a lock is tried whose holder is about to give it up.
const lookAgainEvery = 20 * time.Millisecond

// take takes the lock. Someone who has it without a name has just taken it, or brings the file up to date: that
// is waited for, as long as the context holds or, unless patient, a moment.
func (s *Store) take(ctx context.Context, patient bool) (*os.File, error) {
	f, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(lookAgainEvery)
	defer again.Stop()
	for tries := 0; ; tries++ {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, f.Truncate(0)
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(err, f.Close())
		}
		holder := holderIn(f)
		if holder != "" || !patient && tries == 50 {
			f.Close()
			return nil, &store.HeldError{Holder: holder}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		}
	}
}

// name writes who has the lock: in one piece, for those who read it at this moment.
func name(f *os.File, holder string) error {
	text := strings.ReplaceAll(holder, "\n", " ") + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// holderIn reads who has the lock.
func holderIn(f *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, 1024))
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(first)
}

// leads fails unless the epoch is that of whoever leads now.
func leads(tx *transaction, e store.Epoch) error {
	var now store.Epoch
	err := tx.row(readEpoch).Scan(&now)
	if err == nil && now != e || errors.Is(err, sql.ErrNoRows) {
		return store.ErrDeposed
	}
	return err
}
