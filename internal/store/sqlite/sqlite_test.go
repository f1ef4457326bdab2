package sqlite

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "state", "berth.db")
		return func(t *testing.T) store.Store {
			s, err := Open(t.Context(), Options{Path: path})
			must(t, err)
			t.Cleanup(func() { s.Close() })
			return s
		}
	})
}

func TestReadOnlyMakesNothing(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "none")
	_, err := Open(t.Context(), Options{Path: filepath.Join(folder, "berth.db"), ReadOnly: true})
	if !errors.Is(err, store.ErrNoStore) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "berth.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	if _, err := Open(t.Context(), Options{Path: empty, ReadOnly: true}); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("a file that is just being made: %v", err)
	}
}

func TestReadersBesideTheWriter(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	defer s.Close()
	e := fill(t, s, 1, 1)
	r, err := Open(t.Context(), Options{Path: path, ReadOnly: true})
	must(t, err)
	defer r.Close()
	if r.Instance() != s.Instance() {
		t.Errorf("instances %s and %s", r.Instance(), s.Instance())
	}
	woken := make(chan error)
	go func() { woken <- r.Wait(t.Context(), runID(0), 1) }()
	must(t, s.Commit(t.Context(), e, []store.Transition{change(runID(0), 0)}))
	must(t, <-woken)
	d, err := r.Run(t.Context(), runID(0))
	must(t, err)
	if d.State.Steps[0].Status != run.StepRunning {
		t.Errorf("%+v", d.State.Steps[0])
	}
	_, leads := r.Lead(t.Context(), "reader")
	_, asks := r.Requests(t.Context(), e, "")
	for _, err := range []error{leads, asks, r.Cancel(t.Context(), runID(0), run.Cancel{}), r.Commit(t.Context(), e, nil), r.Submit(t.Context(), store.Submission{State: &run.State{}})} {
		if err == nil || !strings.Contains(err.Error(), "opened to be read") {
			t.Errorf("a reader writes: %v", err)
		}
	}
}

func TestOthersMayNotLook(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a", "state")
	s, err := Open(t.Context(), Options{Path: filepath.Join(folder, "berth.db")})
	must(t, err)
	defer s.Close()
	fill(t, s, 1, 1)
	must(t, filepath.WalkDir(filepath.Dir(folder), func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has %v", path, info.Mode())
		}
		return nil
	}))
}

// A state of version 1 is brought up to date with all that it has; not while a process of that version leads.
func TestVersionOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	script, err := os.ReadFile("testdata/version1.sql")
	must(t, err)
	s := &Store{path: path}
	must(t, s.create())
	old := rawly(t, path)
	dir, err := fs.Sub(migrations, "migrations")
	must(t, err)
	p, err := goose.NewProvider(goose.DialectSQLite3, old, dir, goose.WithDisableGlobalRegistry(true))
	must(t, err)
	_, err = p.UpTo(t.Context(), 1)
	must(t, err)
	_, err = old.Exec(string(script))
	must(t, err)
	must(t, old.Close())

	if _, err := Open(t.Context(), Options{Path: path, ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "older berth") {
		t.Errorf("a reader: %v", err)
	}
	lock, err := s.take(t.Context(), false)
	must(t, err)
	must(t, name(lock, "berth run, process 7"))
	var held *store.HeldError
	if _, err := Open(t.Context(), Options{Path: path}); !errors.As(err, &held) || !strings.Contains(err.Error(), "process 7") {
		t.Errorf("one leads: %v", err)
	}
	must(t, lock.Close())

	s, err = Open(t.Context(), Options{Path: path})
	must(t, err)
	defer s.Close()
	all, err := s.Load(t.Context(), "local")
	must(t, err)
	if s.Instance() != "01kbj0000000000000000000in" || len(all) != 1 || len(all[0].State.Steps) != 2 || len(all[0].Commands) != 1 || len(all[0].Attempts) != 1 {
		t.Fatalf("%s %+v", s.Instance(), all)
	}
	a := all[0]
	if a.Ended != 1 || a.State.Steps[0].ID != "zulu" || a.Plan.Steps[1].ID != "alpha" || string(a.Setup) != `{"a":1}` || a.Plan.Pipeline != "demo" {
		t.Errorf("%+v", a)
	}
	origins, err := s.Origins(t.Context(), run.Ref{Run: a.ID, Step: "zulu", Attempt: 1})
	must(t, err)
	if len(origins) != 1 || origins[0].Layers[0] != "builtin" {
		t.Errorf("%+v", origins)
	}
	e, err := s.Lead(t.Context(), "test")
	must(t, err)
	must(t, s.Commit(t.Context(), e, []store.Transition{{Run: a.ID, Entries: []run.Entry{{At: moment, Kind: run.KindRun}}}}))
	events, err := s.Events(t.Context(), a.ID, 0, 10)
	must(t, err)
	asked, err := s.Requests(t.Context(), e, "")
	must(t, err)
	if e != 4 || len(events) != 3 || events[2].Number != 3 || len(asked.Submitted) != 1 {
		t.Errorf("epoch %d, events %+v, requests %+v", e, events, asked)
	}
}

func TestOriginsOfAllSizes(t *testing.T) {
	t.Parallel()
	var p packer
	for _, text := range []string{"", "a", strings.Repeat("builtin ", 10_000)} {
		data, err := p.pack(text)
		must(t, err)
		var got string
		if err := (packed{&got}).Scan(data); err != nil || got != text {
			t.Errorf("%d bytes came back as %d: %v", len(text), len(got), err)
		}
		var damaged string
		if err := (packed{&damaged}).Scan(bytes.Clone(data)[:len(data)-1]); !errors.Is(err, errDamaged) {
			t.Errorf("cut short: %v", err)
		}
	}
}
