package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/berthdev/berth/internal/store"
)

// Options say which file.
type Options struct {
	Path     string
	ReadOnly bool             // beside whoever writes; no state is made, though SQLite may leave two files beside one
	Now      func() time.Time // nil: time.Now
}

// Store is a store.Store in a file.
type Store struct {
	path     string
	readOnly bool
	now      func() time.Time
	instance string
	write    *sql.DB // one connection: SQLite has one writer at a time
	read     *readers
	prepared map[string]*sql.Stmt // of the one connection that writes, and only used while a transaction has it
	written  watch

	mu     sync.Mutex
	lock   *os.File // held while this process leads
	closed bool
}

var _ store.Store = (*Store)(nil)

// mostReaders bounds what is read at once: each reader has a connection, with a cache of its own.
const mostReaders = 16

// readersCache is in KiB. What is read again and again is small, and what is large is read once.
const readersCache = "&_pragma=cache_size(-256)"

// Open opens the file, and makes it if there is none. A file of an older version is brought up to date, unless
// it is opened to be read only.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{path: o.Path, readOnly: o.ReadOnly, now: o.Now, prepared: map[string]*sql.Stmt{}}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, s.explain("open", err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if s.readOnly {
		if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w at %s", store.ErrNoStore, s.path)
		}
	} else if err := s.create(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", s.source(s.readOnly)+readersCache)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(mostReaders)
	db.SetMaxIdleConns(4)
	s.read, s.written.db = &readers{DB: db, prepared: map[string]*sql.Stmt{}}, db
	if s.readOnly {
		return s.check(ctx)
	}
	if s.write, err = sql.Open("sqlite", s.source(false)+"&_txlock=immediate"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return s.prepare(ctx)
}

// create makes the folder and the file, for its owner only. A file that is there is not opened: closing it
// again would drop every POSIX lock that SQLite has on it in this process.
func (s *Store) create() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// source is how the driver opens the file.
func (s *Store) source(readOnly bool) string {
	q := url.Values{"_pragma": {"busy_timeout(10000)", "foreign_keys(1)"}}
	if readOnly {
		q.Set("mode", "ro")
	} else {
		q.Set("mode", "rw")
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
	}
	path := (&url.URL{Path: filepath.ToSlash(s.path)}).EscapedPath()
	return "file:" + path + "?" + q.Encode()
}

// Instance is an id made when the file was.
func (s *Store) Instance() string { return s.instance }

// Close ends what waits, and gives up the lease if this process has it.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.written.close()
	var all []error
	if s.read != nil {
		all = append(all, s.read.Close())
	}
	if s.write != nil {
		all = append(all, s.write.Close())
	}
	if s.lock != nil {
		all = append(all, s.lock.Truncate(0), s.lock.Close())
	}
	return errors.Join(all...)
}
