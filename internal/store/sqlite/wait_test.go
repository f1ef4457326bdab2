package sqlite

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// What this process writes is told at once, and so is its end: here nobody looks for other processes.
func TestToldAtOnce(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "berth.db")})
	must(t, err)
	defer s.Close()
	e := fill(t, s, 1, 1)
	s.written.waiting, s.written.stop = 1, func() {}
	write := func() error {
		return s.Commit(t.Context(), e, []store.Transition{{Run: runID(0), Entries: []run.Entry{{At: moment, Kind: run.KindRun}}}})
	}
	for _, test := range []struct {
		do   func() error
		want error
	}{{write, nil}, {s.Close, errClosed}} {
		asked, ended := make(chan bool, 3), make(chan error)
		go func() {
			ended <- s.written.until(t.Context(), ofRuns, func() (bool, error) {
				asked <- true
				return len(asked) == cap(asked), nil // the third time
			})
		}()
		for len(asked) < 2 { // from the second time on it is woken
			runtime.Gosched()
		}
		must(t, test.do())
		if err := <-ended; err != test.want {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
}

// Not everything that outlives a power cut can be tried out: this is what it rests on.
func TestDurable(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "berth.db")})
	must(t, err)
	defer s.Close()
	var mode string
	var synchronous int
	must(t, s.write.QueryRow(`PRAGMA journal_mode`).Scan(&mode))
	must(t, s.write.QueryRow(`PRAGMA synchronous`).Scan(&synchronous))
	if mode != "wal" || synchronous != 2 {
		t.Errorf("journal_mode %s, synchronous %d", mode, synchronous)
	}
}
