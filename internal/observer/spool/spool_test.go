package spool

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	observer "github.com/berthdev/berth/api/observer/v1"
)

var wide = Bounds{Age: time.Hour, Bytes: 1 << 20, Count: 16}

func open(t *testing.T, dir string, b Bounds) *Spool {
	t.Helper()
	s, err := Open(dir, b, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func text(s string) func(io.Writer) (bool, error) {
	return func(w io.Writer) (bool, error) {
		_, err := io.WriteString(w, s)
		return true, err
	}
}

func write(t *testing.T, s *Spool, kind, body string) {
	t.Helper()
	if n, kept, err := s.Write(kind, text(body)); err != nil || !kept || n != int64(len(body)) {
		t.Fatalf("%d bytes, kept %v, %v", n, kept, err)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, s *Spool, kind string) string {
	t.Helper()
	r, err := s.Open(kind)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A later payload of a kind replaces the former one.
func TestSupersedes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir, wide)
	write(t, s, observer.KindNodes, "1\n")
	write(t, s, observer.KindNodes, "2\n")
	write(t, s, observer.KindCoverage, "3\n")
	if got := read(t, s, observer.KindNodes); got != "2\n" {
		t.Errorf("%q", got)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"coverage.json", "node_metadata.json"}) {
		t.Errorf("%v", got)
	}
}

// What can't be written, or is not to be kept, leaves the former payload and no trace.
func TestFormerStays(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Bounds{Age: time.Hour, Bytes: 100, Count: 16})
	write(t, s, observer.KindNodes, "1\n")
	full := func(w io.Writer) (bool, error) {
		_, _ = io.WriteString(w, "half")
		return true, syscall.ENOSPC
	}
	if _, kept, err := s.Write(observer.KindNodes, full); !errors.Is(err, syscall.ENOSPC) || kept {
		t.Errorf("%v, %v", kept, err)
	}
	if _, kept, err := s.Write(observer.KindNodes, text(strings.Repeat("x", 101))); err == nil || kept {
		t.Errorf("%v, %v", kept, err)
	}
	same := func(w io.Writer) (bool, error) { return false, nil }
	if _, kept, err := s.Write(observer.KindNodes, same); err != nil || kept {
		t.Errorf("%v, %v", kept, err)
	}
	if got := read(t, s, observer.KindNodes); got != "1\n" {
		t.Errorf("%q", got)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"node_metadata.json"}) {
		t.Errorf("%v", got)
	}
}

// What a writer that was killed left behind is removed, and files of others are not.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".tmp-node_metadata-1", "node_metadata.json", "other.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, Bounds{Age: time.Hour, Bytes: 1, Count: 1})
	if got := files(t, dir); !slices.Equal(got, []string{"node_metadata.json", "other.json"}) {
		t.Errorf("%v", got)
	}
}

// Each bound holds, and the oldest go first.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		what   string
		bounds Bounds
		want   []string
	}{
		{"age", Bounds{Age: 90 * time.Minute, Bytes: 1 << 20, Count: 16}, []string{"node_metadata.json", "workload_metadata.json"}},
		{"bytes", Bounds{Age: 24 * time.Hour, Bytes: 20, Count: 16}, []string{"node_metadata.json", "workload_metadata.json"}},
		{"count", Bounds{Age: 24 * time.Hour, Bytes: 1 << 20, Count: 1}, []string{"workload_metadata.json"}},
	} {
		dir := t.TempDir()
		s := open(t, dir, Bounds{Age: 24 * time.Hour, Bytes: 1 << 20, Count: 16})
		now := time.Now()
		for i, kind := range []string{observer.KindCoverage, observer.KindNodes, observer.KindWorkloads} {
			write(t, s, kind, "ten bytes\n")
			at := now.Add(time.Duration(i-2) * time.Hour)
			if err := os.Chtimes(s.path(kind), at, at); err != nil {
				t.Fatal(err)
			}
		}
		open(t, dir, c.bounds)
		if got := files(t, dir); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are left, want %v", c.what, got, c.want)
		}
	}
}
