package process

import (
	"errors"
	"os"
	"testing"
	"time"
)

// TestLeftover: a reader that comes after the deadline gets nothing, and what is in the pipe is there all the
// same, though the other end is open.
func TestLeftover(t *testing.T) {
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	if _, err := in.WriteString("last words"); err != nil {
		t.Fatal(err)
	}
	out.SetReadDeadline(time.Unix(1, 0))
	if n, err := out.Read(make([]byte, 10)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d, %v", n, err)
	}
	if got := string(leftover(out)); got != "last words" {
		t.Errorf("%q is left", got)
	}
	if got := leftover(out); len(got) > 0 {
		t.Errorf("%q is left a second time", got)
	}
}
