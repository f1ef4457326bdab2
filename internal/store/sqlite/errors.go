package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/berthdev/berth/internal/store"
)

var (
	errReadOnly = errors.New("it was opened to be read")
	errClosed   = errors.New("it was closed")
	errDamaged  = errors.New("damaged")
)

type newerError string

func (e newerError) Error() string {
	return string(e) + " was written by a newer berth\nUse that one, or name another folder with --state DIR."
}

type olderError string

func (e olderError) Error() string {
	return string(e) + " was written by an older berth\nThe next \"berth run\" or \"berth resume\" brings it up to date."
}

// explain makes an error of the database one that says what to do. Those of the contract stay what they are.
func (s *Store) explain(what string, err error) error {
	if err == nil || ofContract(err) {
		return err
	}
	switch fault(err) {
	case lib.SQLITE_PERM, lib.SQLITE_READONLY:
		return fmt.Errorf("can't %s the state at %s: no permission\nCorrect the rights of the folder, or name another with --state DIR.%w", what, s.path, hidden{err})
	case lib.SQLITE_CANTOPEN:
		return fmt.Errorf("can't %s the state at %s: it can't be opened there\nSee that it is a file in a folder of yours, or name another with --state DIR.%w", what, s.path, hidden{err})
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("the state at %s is damaged\nMove the file away, and those beside it; runs that it had are lost to berth, and their pods stay (label berth.dev/instance).%w", s.path, hidden{err})
	case lib.SQLITE_FULL:
		return fmt.Errorf("can't %s the state at %s: the disk is full\nMake room; nothing that was recorded is lost.%w", what, s.path, hidden{err})
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("can't %s the state at %s: another program holds it\nSee which with \"lsof %s\".%w", what, s.path, s.path, hidden{err})
	case lib.SQLITE_IOERR:
		return fmt.Errorf("can't %s the state at %s: the disk does not read or write it\nSee what the system says of the disk; state on a network's file system is not supported.%w", what, s.path, hidden{err})
	}
	var base *driver.Error
	if errors.As(err, &base) { // around it may be the statement
		return fmt.Errorf("can't %s the state at %s: %w", what, s.path, base)
	}
	return fmt.Errorf("can't %s the state at %s: %w", what, s.path, err)
}

// ofContract says whether the caller knows the error.
func ofContract(err error) bool {
	for _, known := range []error{store.ErrNoStore, store.ErrNoRun, store.ErrExists, store.ErrDeposed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return true
		}
	}
	var held *store.HeldError
	var several *store.AmbiguousError
	var newer newerError
	var older olderError
	return errors.As(err, &held) || errors.As(err, &several) || errors.As(err, &newer) || errors.As(err, &older)
}

// fault is the kind of an error, in SQLite's words; 0 if it has none.
func fault(err error) int {
	var base *driver.Error
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &base):
		return base.Code() & 0xff // the rest is detail
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return lib.SQLITE_PERM
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return lib.SQLITE_FULL
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return lib.SQLITE_CANTOPEN
	case errors.Is(err, errDamaged), errors.As(err, &syntax), errors.As(err, &mistyped):
		return lib.SQLITE_CORRUPT
	}
	return 0
}

// hidden is an error that can be found, and is not shown.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
