package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

var ref = run.Ref{Run: "01KBJ", Step: "test-amd64", Attempt: 2}

// open opens an archive in folders of its own.
func open(t testing.TB) (a *Archive, folder string) {
	t.Helper()
	root := t.TempDir()
	folder = filepath.Join(root, "the logs")
	a, err := Open(t.Context(), FileURL(folder), filepath.Join(root, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, folder
}

func kept(t testing.TB, a *Archive) string {
	t.Helper()
	r, err := a.Read(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files gives what is in a folder, with its modes.
func files(t testing.TB, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(folder, path)
		all = append(all, fmt.Sprintf("%s %s", info.Mode(), name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestArchive(t *testing.T) {
	a, folder := open(t)
	if _, err := a.Read(t.Context(), ref); !errors.Is(err, executor.ErrNoLog) {
		t.Errorf("nothing was kept: %v", err)
	}
	if has, err := a.Has(t.Context(), ref); has || err != nil {
		t.Errorf("nothing was kept: %t, %v", has, err)
	}
	for _, text := range []string{"first\n", "second, without end", ""} {
		if err := a.Keep(t.Context(), ref, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if got := kept(t, a); got != text {
			t.Errorf("%q was kept, and %q read", text, got)
		}
	}
	if has, err := a.Has(t.Context(), ref); !has || err != nil {
		t.Errorf("%t, %v", has, err)
	}
	want := []string{"drwx------ .", "drwx------ 01KBJ", "-rw------- 01KBJ/test-amd64-2.log"}
	if got := files(t, folder); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// TestKeepIsWhole: a log that can't be read or written to its end leaves what was there before.
func TestKeepIsWhole(t *testing.T) {
	a, folder := open(t)
	broken := errors.New("broken")
	half := func() io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat("x", 2*small)), iotest.ErrReader(broken))
	}
	if err := a.Keep(t.Context(), ref, half()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if has, _ := a.Has(t.Context(), ref); has {
		t.Error("half of a log was kept")
	}
	if err := a.Keep(t.Context(), ref, strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	if err := a.Keep(t.Context(), ref, half()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Keep(cancelled, ref, strings.NewReader("another")); !errors.Is(err, context.Canceled) {
		t.Errorf("it was kept after its context: %v", err)
	}
	if got := kept(t, a); got != "whole" {
		t.Errorf("%q", got)
	}
	if got := files(t, folder); len(got) != 3 {
		t.Errorf("something is left over: %q", got)
	}
	if got := files(t, a.spool); len(got) != 1 {
		t.Errorf("something is left over: %q", got)
	}
}

// TestStoreIsWhole: the same where it is the spool that can't be read.
func TestStoreIsWhole(t *testing.T) {
	a, folder := open(t)
	s := newSpool(a.spool)
	defer s.release()
	if err := s.write(make([]byte, 2*small)); err != nil {
		t.Fatal(err)
	}
	s.new.file.Close()
	if err := a.store(t.Context(), ref, s); err == nil {
		t.Fatal("nothing went wrong")
	}
	if got := files(t, folder); len(got) != 2 {
		t.Errorf("half of a log was kept: %q", got)
	}
}

// bound makes logs be cut at so many bytes.
func bound(t testing.TB, bytes int64) {
	before := most
	most = bytes
	t.Cleanup(func() { most = before })
}

// TestCut: of a long log the end is kept, from the beginning of a line.
func TestCut(t *testing.T) {
	bound(t, 1<<20)
	a, _ := open(t)
	var b bytes.Buffer
	for i := 0; b.Len() < 5<<19; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	if err := a.Keep(t.Context(), ref, iotest.HalfReader(&b)); err != nil {
		t.Fatal(err)
	}
	got := kept(t, a)
	first, rest, _ := strings.Cut(got, "\n")
	if first != "[the first 1 MiB are missing: the last 1 MiB of a log are kept]" || !strings.HasPrefix(rest, "line ") || int64(len(rest)) > most || len(rest) < 1<<20-20 {
		t.Errorf("%q, and then %d bytes that begin with %q", first, len(rest), rest[:20])
	}
	if err := a.Keep(t.Context(), ref, strings.NewReader(strings.Repeat("x", 3<<20))); err != nil {
		t.Fatal(err)
	}
	if got := kept(t, a); len(got) != len(missing(2<<20))+1<<20 || !strings.HasPrefix(got, "[the first 2 MiB are missing") {
		t.Errorf("%d bytes of a line without end", len(got))
	}
}

// TestSpool compares with all that was written: nothing is lost but the beginning, whatever comes how.
func TestSpool(t *testing.T) {
	bound(t, 300<<10)
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newSpool(folder)
		defer s.release()
		var all []byte
		for range rapid.IntRange(0, 12).Draw(t, "writes") {
			n := rapid.IntRange(1, 100<<10).Draw(t, "bytes")
			line := fmt.Sprintf("%d %s\n", len(all), strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "line")))
			p := []byte(strings.Repeat(line, n/len(line)+1))
			all = append(all, p...)
			if err := s.write(p); err != nil {
				t.Fatal(err)
			}
		}
		s.end()
		var stored bytes.Buffer
		if err := s.writeTo(&stored); err != nil {
			t.Fatal(err)
		}
		text := stored.Bytes()
		if int64(len(all)) > most {
			first, rest, _ := bytes.Cut(text, []byte("\n"))
			if !bytes.HasPrefix(first, []byte("[the first ")) || int64(len(rest)) > most || all[len(all)-len(rest)-1] != '\n' {
				t.Fatalf("%q, and then %d bytes of %d", first, len(rest), len(all))
			}
			text = rest
		} else if len(text) != len(all) {
			t.Fatalf("%d bytes of %d", len(text), len(all))
		}
		if !bytes.HasSuffix(all, text) {
			t.Fatal("it is not the end of what was written")
		}
		s.hold()
		tailed, err := io.ReadAll(&tail{ctx: context.Background(), spool: s, close: s.release})
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(tailed, []byte("]\n")); bytes.HasPrefix(tailed, []byte("[the first")) {
			tailed = tailed[i+2:]
		}
		if !bytes.HasSuffix(all, tailed) || len(tailed) < len(text) {
			t.Fatalf("%d bytes of %d were read", len(tailed), len(all))
		}
	})
	if got := files(t, folder); len(got) != 1 {
		t.Errorf("something is left over: %q", got)
	}
}

func TestNone(t *testing.T) {
	a, err := Open(t.Context(), None, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Keep(t.Context(), ref, iotest.ErrReader(errors.New("read"))); err != nil {
		t.Errorf("it was read: %v", err)
	}
	if _, err := a.Read(t.Context(), ref); !errors.Is(err, executor.ErrNoLog) {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, location := range []string{"", "/var/log", "s3://bucket", "file://logs", "file:logs", "mem://", "file:///a\x00"} {
		if _, err := Open(t.Context(), location, t.TempDir()); err == nil {
			t.Errorf("%q", location)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), FileURL(file), t.TempDir()); err == nil {
		t.Error("a file was taken for a folder")
	}
}

// BenchmarkKeepSmall is a log of 1 KB, as most are.
func BenchmarkKeepSmall(b *testing.B) {
	a, _ := open(b)
	text := strings.Repeat("0123456789abcdef", 64)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for i := 0; b.Loop(); i++ {
		if err := a.Keep(b.Context(), run.Ref{Run: "r", Step: "s", Attempt: i % 500}, strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeepLarge is a log that is cut.
func BenchmarkKeepLarge(b *testing.B) {
	a, _ := open(b)
	line := []byte(strings.Repeat("0123456789abcde\n", 4096))
	b.ReportAllocs()
	b.SetBytes(40 << 20)
	for b.Loop() {
		r := io.LimitReader(repeated(line), 40<<20)
		if err := a.Keep(b.Context(), ref, r); err != nil {
			b.Fatal(err)
		}
	}
}

type repeated []byte

func (r repeated) Read(p []byte) (int, error) { return copy(p, r), nil }

// TestKeepAllocates bounds what a small log costs.
func TestKeepAllocates(t *testing.T) {
	a, _ := open(t)
	text := strings.Repeat("x", 1024)
	const most = 90 // nearly all of them the bucket's
	if got := testing.AllocsPerRun(100, func() { _ = a.Keep(t.Context(), ref, strings.NewReader(text)) }); got > most {
		t.Errorf("%.0f allocations, and %d are the most", got, most)
	}
}
