package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// What another process does, on the file that is its argument.
var roles = map[string]func(context.Context, string) error{
	"open": func(ctx context.Context, path string) error {
		s, err := Open(ctx, Options{Path: path})
		if err != nil {
			return err
		}
		fmt.Println(s.Instance())
		return s.Close()
	},
	"lead": func(ctx context.Context, path string) error {
		s, err := Open(ctx, Options{Path: path})
		if err != nil {
			return err
		}
		if _, err := s.Lead(ctx, "berth run, process 7"); err != nil {
			return err
		}
		fmt.Println("leads")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	},
	// commit says of every commit that it was acknowledged: of two runs, at once.
	"commit": func(ctx context.Context, path string) error {
		s, err := Open(ctx, Options{Path: path})
		if err != nil {
			return err
		}
		e, err := s.Lead(ctx, "writer")
		for n := 1; err == nil; n++ {
			entry := []run.Entry{{At: moment, Kind: run.KindRun, Place: n}}
			step := []*run.Step{{ID: stepID(0), Fence: int64(n)}}
			if err = s.Commit(ctx, e, []store.Transition{{Run: runID(0), Entries: entry, Steps: step}, {Run: runID(1), Entries: entry, Steps: step}}); err == nil {
				fmt.Println(n)
			}
		}
		return err
	},
	// locked asks whether anybody has a lock on the file: SQLite's own, of bytes from 1 GiB on.
	"locked": func(_ context.Context, path string) error {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 1 << 30, Len: 512}
		if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
			return err
		}
		fmt.Println(lock.Type != unix.F_UNLCK)
		return nil
	},
}

func TestMain(m *testing.M) {
	if role, path, ok := strings.Cut(os.Getenv("BERTH_TEST_ROLE"), " "); ok {
		if err := roles[role](context.Background(), path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is another one in a role.
func process(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	c := exec.CommandContext(t.Context(), program)
	c.Env = append(os.Environ(), "BERTH_TEST_ROLE="+role+" "+path)
	return c
}

// begin starts it, and gives what it says line by line.
func begin(t *testing.T, c *exec.Cmd) *bufio.Scanner {
	t.Helper()
	out, err := c.StdoutPipe()
	must(t, err)
	_, err = c.StdinPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return bufio.NewScanner(out)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What was acknowledged is there, and nothing is half there.
func TestKilledWhileCommitting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	fill(t, s, 2, 1)
	must(t, s.Close())
	for before, round := int64(1), 1; round <= 5; round++ {
		c := process(t, "commit", path)
		said := begin(t, c)
		acknowledged := int64(0)
		for said.Scan() {
			if acknowledged++; acknowledged == int64(7*round) {
				must(t, c.Process.Kill())
			}
		}
		s, err := Open(t.Context(), Options{Path: path})
		must(t, err)
		all, err := s.Load(t.Context(), "here")
		must(t, err)
		var last [2]int64
		for i, a := range all {
			events, err := s.Events(t.Context(), a.ID, 0, 10_000)
			must(t, err)
			last[i] = events[len(events)-1].Number
			if last[i] != int64(len(events)) || int64(events[len(events)-1].Place) != a.State.Steps[0].Fence {
				t.Errorf("run %d has %d events up to number %d, which is not what its step says: %d", i, len(events), last[i], a.State.Steps[0].Fence)
			}
		}
		if last[0] != last[1] || last[0] < before+acknowledged || last[0] > before+acknowledged+1 {
			t.Errorf("after %d events, %d commits were acknowledged; now the runs have %v", before, acknowledged, last)
		}
		before = last[0]
		must(t, s.Close())
	}
}

func TestOneProcessLeads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	c := process(t, "lead", path)
	if said := begin(t, c); !said.Scan() || said.Text() != "leads" {
		t.Fatal(said.Text())
	}
	s, err := Open(t.Context(), Options{Path: path})
	must(t, err)
	defer s.Close()
	var held *store.HeldError
	if _, err := s.Lead(t.Context(), "other"); !errors.As(err, &held) || held.Holder != "berth run, process 7" {
		t.Errorf("%v", err)
	}
	must(t, c.Process.Kill())
	c.Wait()
	if _, err := s.Lead(t.Context(), "other"); err != nil {
		t.Errorf("the lease of a process that was killed: %v", err)
	}
}

// Several may want a state that there is not yet.
func TestMadeOnce(t *testing.T) {
	t.Parallel()
	for range 4 {
		path := filepath.Join(t.TempDir(), "state", "berth.db")
		said := make([]string, 4)
		var all sync.WaitGroup
		for i := range said {
			all.Go(func() {
				out, err := process(t, "open", path).CombinedOutput()
				if said[i] = string(out); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
		all.Wait()
		for _, instance := range said {
			if instance != said[0] || len(instance) != 27 || strings.ToLower(instance) != instance {
				t.Errorf("instances %q", said)
			}
		}
	}
}

// POSIX gives up a process's locks on a file when it closes any of its descriptors of it.
func TestOpeningTwiceKeepsLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	for range 2 {
		s, err := Open(t.Context(), Options{Path: path})
		must(t, err)
		defer s.Close()
		if out, err := process(t, "locked", path).CombinedOutput(); err != nil || string(out) != "true\n" {
			t.Errorf("SQLite's lock is there: %s%v", out, err)
		}
	}
}
