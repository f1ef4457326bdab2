package sqlite

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// rawly opens a file as it is.
func rawly(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	must(t, err)
	return db
}

var statement = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|SQLITE_)`)

// says checks that an error has a text, and nothing that only those who wrote this understand.
func says(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) || statement.MatchString(err.Error()) {
		t.Errorf("%q is not in: %v", text, err)
	}
}

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	must(t, os.WriteFile(path, []byte(strings.Repeat("this is no database ", 100)), 0o600))
	for _, readOnly := range []bool{true, false} {
		_, err := Open(t.Context(), Options{Path: path, ReadOnly: readOnly})
		says(t, err, "is damaged\nMove the file away")
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	fill(t, s, 20, 10)
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	for at := 64 << 10; at < len(data); at++ {
		data[at] = 0xa5
	}
	must(t, os.WriteFile(path, data, 0o600))
	s, err = Open(t.Context(), Options{Path: path})
	must(t, err)
	defer s.Close()
	_, err = s.Load(t.Context(), "here")
	says(t, err, "is damaged")
}

func TestOfANewerBerth(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	_, err = s.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	must(t, err)
	must(t, s.Close())
	for _, readOnly := range []bool{true, false} {
		_, err := Open(t.Context(), Options{Path: path, ReadOnly: readOnly})
		says(t, err, "was written by a newer berth\nUse that one")
	}
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "berth.db")})
	must(t, err)
	defer s.Close()
	e := fill(t, s, 1, 1)
	var pages int
	must(t, s.write.QueryRow(`PRAGMA page_count`).Scan(&pages))
	_, err = s.write.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
	must(t, err)
	large := store.Transition{Run: runID(0), Entries: []run.Entry{{Kind: run.KindRun}, {Kind: run.KindRun, Message: strings.Repeat("x", 1<<20)}}}
	says(t, s.Commit(t.Context(), e, []store.Transition{large}), "the disk is full\nMake room")
	events, err := s.Events(t.Context(), runID(0), 0, 10)
	must(t, err)
	if len(events) != 1 {
		t.Errorf("something of it is there: %d events", len(events))
	}
	_, err = s.write.Exec(`PRAGMA max_page_count = 1000000`)
	must(t, err)
	must(t, s.Commit(t.Context(), e, []store.Transition{large}))
}

func TestNoPlaceForIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{filepath.Join(file, "berth.db"), t.TempDir()} {
		_, err := Open(t.Context(), Options{Path: path})
		says(t, err, "can't be opened there\nSee that it is a file")
	}
}

func TestErrorsOfTheSystem(t *testing.T) {
	t.Parallel()
	s := &Store{path: "/p"}
	for err, text := range map[error]string{
		&fs.PathError{Op: "open", Path: "/p", Err: syscall.EACCES}: "no permission\nCorrect the rights",
		&fs.PathError{Op: "open", Path: "/p", Err: syscall.EROFS}:  "no permission",
		&fs.PathError{Op: "open", Path: "/p", Err: syscall.ENOSPC}: "the disk is full",
	} {
		says(t, s.explain("open", err), text)
	}
}
