package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver

	"github.com/berthdev/berth/internal/store"
)

// Options say which file.
type Options struct {
	Path     string
	ReadOnly bool // beside whoever writes; nothing is created
}

// Store is a store.Store in a file.
type Store struct {
	path     string
	readOnly bool
	instance string
	write    *sql.DB // one connection: SQLite has one writer at a time
	read     *sql.DB
	lock     *os.File // held while this process leads

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when this process has written
}

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens the file, and makes it if there is none.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{path: o.Path, readOnly: o.ReadOnly, changed: make(chan struct{})}
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
	} else if err := s.prepare(); err != nil {
		return err
	}
	var err error
	if s.read, err = sql.Open("sqlite", s.source(s.readOnly)); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(32)
	s.read.SetMaxIdleConns(4)
	if s.readOnly {
		return s.check(ctx)
	}
	if s.write, err = sql.Open("sqlite", s.source(false)+"&_txlock=immediate"); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	return s.migrate(ctx)
}

// prepare makes the folder and the file, for its owner only.
func (s *Store) prepare() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
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
		q["_pragma"] = append(q["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
	}
	path := (&url.URL{Path: filepath.ToSlash(s.path)}).EscapedPath()
	return "file:" + path + "?" + q.Encode()
}

// migrate brings the file's tables up to date. It never goes back.
func (s *Store) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.write, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return newerError(s.path)
	}
	if current < target {
		if _, err := p.Up(ctx); err != nil {
			return err
		}
	}
	// Two processes may come here at once: the first one's instance stays.
	id := strings.ToLower(ulid.MustNew(ulid.Timestamp(time.Now()), rand.Reader).String())
	if _, err := s.write.ExecContext(ctx, `INSERT INTO meta VALUES ('instance', ?), ('epoch', '0') ON CONFLICT DO NOTHING`, id); err != nil {
		return err
	}
	return s.write.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'instance'`).Scan(&s.instance)
}

// check refuses to read what a newer Berth has written.
func (s *Store) check(ctx context.Context) error {
	var version int64
	err := s.read.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	if err != nil {
		return err
	}
	if version > latest() {
		return newerError(s.path)
	}
	return s.read.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'instance'`).Scan(&s.instance)
}

// latest is the version of the last migration.
func latest() int64 {
	all, _ := fs.Glob(migrations, "migrations/*.sql")
	return int64(len(all))
}

type newerError string

func (e newerError) Error() string {
	return string(e) + " was written by a newer berth\nUse that one, or name another folder with --state DIR."
}

// Instance is an id made when the file was.
func (s *Store) Instance() string { return s.instance }

// Close gives up the lease, if this process has it.
func (s *Store) Close() error {
	var all []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			all = append(all, db.Close())
		}
	}
	if s.lock != nil {
		all = append(all, s.lock.Close())
		s.lock = nil
	}
	return errors.Join(all...)
}

// explain makes an error of the database one that says what to do.
func (s *Store) explain(what string, err error) error {
	if err == nil {
		return nil
	}
	var newer newerError
	text := err.Error()
	switch {
	case errors.As(err, &newer), errors.Is(err, store.ErrNoStore), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrPermission), strings.Contains(text, "readonly database"), strings.Contains(text, "unable to open"):
		return fmt.Errorf("can't %s the state at %s: no permission\nCorrect the rights of the folder, or name another with --state DIR.%w", what, s.path, hidden{err})
	case strings.Contains(text, "malformed"), strings.Contains(text, "not a database"):
		return fmt.Errorf("the state at %s is damaged\nMove the file away; runs that it had are lost to berth, and their pods stay (label berth.dev/instance).%w", s.path, hidden{err})
	case strings.Contains(text, "disk is full"), strings.Contains(text, "no space left"):
		return fmt.Errorf("can't %s the state at %s: the disk is full\nMake room; nothing that was recorded is lost.%w", what, s.path, hidden{err})
	case strings.Contains(text, "database is locked"):
		return fmt.Errorf("can't %s the state at %s: another program holds it\nSee which with \"lsof %s\".%w", what, s.path, s.path, hidden{err})
	}
	return fmt.Errorf("can't %s the state at %s: %w", what, s.path, err)
}

// hidden is an error that can be found, and is not shown.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }
