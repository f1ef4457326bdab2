package push

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// payloads are what a spool has.
type payloads struct {
	mu   sync.Mutex
	text map[string]string
}

func (p *payloads) Open(kind string) (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.text[kind]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (p *payloads) put(kind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text[kind] = text
}

// rig is a pusher, a receiver that answers what it is told to, and what came of it.
type rig struct {
	*Pusher
	t       *testing.T
	from    *payloads
	got     chan string // what was received: "KIND TOKEN BODY"
	answers chan func(http.ResponseWriter)
	pauses  chan time.Duration
	logged  *bytes.Buffer
	failed  chan struct{}
	stop    func()
}

func newRig(t *testing.T, tokenFile string) *rig {
	r := &rig{t: t, from: &payloads{text: map[string]string{}}, got: make(chan string, 100), answers: make(chan func(http.ResponseWriter), 100),
		pauses: make(chan time.Duration, 100), failed: make(chan struct{}, 100), logged: &bytes.Buffer{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		if q.Method != http.MethodPost || q.Header.Get("Content-Type") != "application/json" || q.Header.Get("Berth-Schema") != "1" {
			t.Errorf("%s %v", q.Method, q.Header)
		}
		(<-r.answers)(w)
		r.got <- fmt.Sprintf("%s %s %s", q.Header.Get("Berth-Kind"), q.Header.Get("Authorization"), body)
	}))
	t.Cleanup(server.Close)
	p, err := New(Options{From: r.from, URL: strings.Replace(server.URL, "http://", "http://user:hunter2@", 1) + "/in", TokenFile: tokenFile,
		Log: slog.New(slog.NewTextHandler(r.logged, nil)), Failed: func() { r.failed <- struct{}{} },
		After: func(d time.Duration) <-chan time.Time {
			r.pauses <- d
			c := make(chan time.Time, 1)
			c <- time.Time{}
			return c
		}})
	if err != nil {
		t.Fatal(err)
	}
	r.Pusher = p
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); p.Run(ctx) }()
	r.stop = func() { cancel(); <-over }
	t.Cleanup(r.stop)
	return r
}

func (r *rig) answer(code int, headers ...string) {
	r.answers <- func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

func (r *rig) want(what string) {
	r.t.Helper()
	select {
	case got := <-r.got:
		if got != what {
			r.t.Errorf("received %q, want %q", got, what)
		}
	case <-time.After(time.Minute):
		r.t.Fatalf("nothing was received; want %q", what)
	}
}

// A payload is posted again until it is taken; the pauses grow, and are as long as the receiver asks for.
func TestRetries(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	writeToken := func(s string) {
		if err := os.WriteFile(token, []byte(s+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writeToken("one")
	r := newRig(t, token)
	r.from.put("nodes", "1")
	r.answers <- func(w http.ResponseWriter) { writeToken("two"); w.WriteHeader(http.StatusUnauthorized) }
	r.answer(503, "Retry-After", "30")
	r.answer(302, "Location", "http://127.0.0.1:1/elsewhere")
	r.answer(204)
	r.Notify("nodes")
	r.want("nodes Bearer one 1")
	r.want("nodes Bearer two 1")
	r.want("nodes Bearer two 1")
	r.want("nodes Bearer two 1")
	r.stop()
	close(r.pauses)
	var pauses []time.Duration
	for d := range r.pauses {
		pauses = append(pauses, d)
	}
	if want := []time.Duration{time.Second, 30 * time.Second, 4 * time.Second}; !slices.Equal(pauses, want) {
		t.Errorf("pauses %v, want %v", pauses, want)
	}
	if len(r.failed) != 3 {
		t.Errorf("%d failures", len(r.failed))
	}
	if log := r.logged.String(); strings.Contains(log, "hunter2") || strings.Contains(log, "two") || !strings.Contains(log, "503 Service Unavailable") {
		t.Errorf("log: %s", log)
	}
}

// What was replaced in the meantime is not posted, nor is what the receiver will never take posted again.
func TestSupersededAndRefused(t *testing.T) {
	r := newRig(t, "")
	r.from.put("nodes", "1")
	r.answers <- func(w http.ResponseWriter) { r.from.put("nodes", "2"); w.WriteHeader(500) }
	r.Notify("nodes")
	r.want("nodes Basic dXNlcjpodW50ZXIy 1") // what the address has, where there is no token
	r.answer(413)
	r.want("nodes Basic dXNlcjpodW50ZXIy 2")
	r.from.put("coverage", "3")
	r.answer(200)
	r.Notify("gone")
	r.Notify("coverage")
	r.want("coverage Basic dXNlcjpodW50ZXIy 3")
	r.stop()
	if len(r.got) != 0 {
		t.Errorf("%d more", len(r.got))
	}
}

func TestAddresses(t *testing.T) {
	for _, u := range []string{"", "host", "ftp://host", "https://", "https://us er:hunter2@h"} {
		if _, err := New(Options{URL: u}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", u, err)
		}
	}
}
