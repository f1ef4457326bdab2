package local_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/run"
)

func TestFollow(t *testing.T) {
	b := begin(t, local.Options{Dir: t.TempDir()})
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	job := script("echo one; cat " + pipe)
	b.Start(job)
	b.until(job.Ref, phase(run.PhaseRunning))
	f, err := b.Log(t.Context(), job.Ref, "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if text, err := r.ReadString('\n'); text != "one\n" {
		t.Fatalf("%q, %v", text, err)
	}
	if err := os.WriteFile(pipe, []byte("two\n"), 0); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if string(rest) != "two\n" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	other := script("echo up; sleep 1000")
	other.Step = "other"
	b.Start(other)
	b.line(t, other.Ref)
	g, err := b.Log(ctx, other.Ref, "", true)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	cancel()
	if _, err := io.ReadAll(g); !errors.Is(err, context.Canceled) {
		t.Errorf("a follow whose context ended: %v", err)
	}
}
