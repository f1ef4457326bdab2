package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/pressly/goose/v3"

	"github.com/berthdev/berth/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the file's tables up to date. It never goes back, and nobody leads while it works.
func (s *Store) migrate(ctx context.Context) error {
	switch v, err := version(ctx, s.write); {
	case err != nil:
		return err
	case v > latest():
		return newerError(s.path)
	case v < latest():
		if err := s.alone(ctx, func() error { return up(ctx, s.write) }); err != nil {
			return err
		}
	}
	// Two processes may come here at once: the first one's instance stays.
	id := strings.ToLower(ulid.MustNew(ulid.Timestamp(s.now()), rand.Reader).String())
	if _, err := s.write.ExecContext(ctx, `INSERT INTO meta VALUES ('instance', ?), ('epoch', '0') ON CONFLICT DO NOTHING`, id); err != nil {
		return err
	}
	return s.identify(ctx, s.write)
}

// up does what of the migrations is left to do.
func up(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// patience is how long another process may take to make the file or to bring it up to date.
const patience = 30 * time.Second

// alone does something while this process has the lock. Another one may be about the same, which is waited for;
// one that leads is not.
func (s *Store) alone(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f, err := s.take(ctx, true)
	var held *store.HeldError
	switch {
	case errors.As(err, &held):
		return fmt.Errorf("the state at %s is %w, and of an older version of berth\nWait until that one has ended", s.path, err)
	case err != nil:
		return err
	}
	defer f.Close()
	return do()
}

// check refuses to read what another version of berth has written.
func (s *Store) check(ctx context.Context) error {
	switch v, err := version(ctx, s.read.DB); {
	case err != nil:
		return err
	case v == 0: // it is just being made
		return fmt.Errorf("%w at %s", store.ErrNoStore, s.path)
	case v > latest():
		return newerError(s.path)
	case v < latest():
		return olderError(s.path)
	}
	return s.identify(ctx, s.read.DB)
}

// identify reads the instance.
func (s *Store) identify(ctx context.Context, db *sql.DB) error {
	err := db.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'instance'`).Scan(&s.instance)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w at %s", store.ErrNoStore, s.path)
	}
	return err
}

// version is that of the tables; 0 if there are none.
func version(ctx context.Context, db *sql.DB) (v int64, err error) {
	var some bool
	if err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'goose_db_version')`).Scan(&some); err != nil || !some {
		return 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&v)
	return v, err
}

// latest is the version of the last migration: they are numbered from 1, without gaps.
func latest() int64 {
	all, _ := fs.Glob(migrations, "migrations/*.sql")
	return int64(len(all))
}
