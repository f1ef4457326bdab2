package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Open {
		path := filepath.Join(t.TempDir(), "state", "berth.db")
		return func(t *testing.T) store.Store {
			s, err := Open(t.Context(), Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
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
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("%v", err)
	}
	path = filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, readOnly := range []bool{true, false} {
		if _, err := Open(t.Context(), Options{Path: path, ReadOnly: readOnly}); err == nil || !strings.Contains(err.Error(), "newer berth") {
			t.Errorf("readOnly %v: %v", readOnly, err)
		}
	}
}
