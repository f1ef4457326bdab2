// Package push posts payloads to a receiver.
//
// It promises:
//   - The spool is the buffer. What is posted is the latest payload of a kind at that moment; one that was
//     replaced before it could be delivered is not posted any more.
//   - A payload is posted until it is taken, with pauses that grow up to five minutes, or as long as the receiver
//     asks for. One that the receiver will never take (400, 413, 422 and the like) is given up, and counted.
//   - The token is read for each request, and goes to no other address: redirects are not followed.
//   - No error holds the token, or more of the address than its host.
package push

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// Source gives the latest payload of a kind, or fs.ErrNotExist.
type Source interface {
	Open(kind string) (io.ReadCloser, error)
}

// Options of a pusher. From and URL have to be there.
type Options struct {
	From      Source
	URL       string
	TokenFile string // none: no token
	Version   string
	Log       *slog.Logger
	Failed    func()                               // is told of each failure
	After     func(time.Duration) <-chan time.Time // time.After, if it is nil
}

// Pusher posts payloads. Notify may be called from any goroutine.
type Pusher struct {
	options Options
	client  *http.Client
	host    string

	mu      sync.Mutex
	waiting map[string]bool
	more    chan struct{}
}

// Pauses after failures, and how long a request may take.
const (
	firstPause = time.Second
	mostPause  = 5 * time.Minute
	patience   = time.Minute
)

// New makes a pusher, which does nothing until it runs. The error says what is wrong with the address.
func New(o Options) (*Pusher, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address to push to is no URL: write https://HOST/PATH")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Failed == nil {
		o.Failed = func() {}
	}
	if o.After == nil {
		o.After = time.After
	}
	client := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Pusher{options: o, client: client, host: u.Host, waiting: map[string]bool{}, more: make(chan struct{}, 1)}, nil
}

// Notify says that there is a new payload of a kind.
func (p *Pusher) Notify(kind string) {
	p.mu.Lock()
	p.waiting[kind] = true
	p.mu.Unlock()
	select {
	case p.more <- struct{}{}:
	default:
	}
}

func (p *Pusher) next() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []string
	for k := range p.waiting {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	clear(p.waiting)
	return kinds
}

// Run posts until the context ends.
func (p *Pusher) Run(ctx context.Context) {
	pause := firstPause
	for {
		select {
		case <-p.more:
		case <-ctx.Done():
			return
		}
		asked := time.Duration(0)
		failed := false
		for _, kind := range p.next() {
			err := p.post(ctx, kind)
			var r *refusal
			switch {
			case err == nil, ctx.Err() != nil:
				continue
			case errors.As(err, &r) && r.final():
				p.options.Failed()
				p.options.Log.Error("a payload is refused, and given up", "kind", kind, "why", err)
				continue
			case errors.As(err, &r):
				asked = max(asked, r.after)
			}
			failed = true
			p.options.Failed()
			p.options.Log.Warn("a payload could not be delivered; trying again", "kind", kind, "why", err)
			p.Notify(kind)
		}
		if !failed {
			pause = firstPause
			continue
		}
		select {
		case <-p.options.After(max(pause, min(asked, mostPause))):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, mostPause)
	}
}

// refusal is an answer other than "taken".
type refusal struct {
	host  string
	code  int
	after time.Duration // that the receiver asks to wait
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s answers %d %s", r.host, r.code, http.StatusText(r.code))
}

// final says whether the same payload would get the same answer again. A token that is not accepted may be
// replaced.
func (r *refusal) final() bool {
	switch r.code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return r.code >= 400 && r.code < 500
}

func (p *Pusher) post(ctx context.Context, kind string) error {
	payload, err := p.options.From.Open(kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // its time was over
	}
	if err != nil {
		return err
	}
	defer payload.Close()
	body, into := io.Pipe()
	go func() {
		z := gzip.NewWriter(into)
		_, err := io.Copy(z, payload)
		_ = into.CloseWithError(errors.Join(err, z.Close()))
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.options.URL, body)
	if err != nil {
		_ = body.Close()
		return errors.New("the request can't be made")
	}
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("Content-Encoding", "gzip")
	h.Set("User-Agent", "berth-observer/"+p.options.Version)
	h.Set("Berth-Kind", kind)
	h.Set("Berth-Schema", strconv.Itoa(observer.Schema))
	if p.options.TokenFile != "" {
		token, err := os.ReadFile(p.options.TokenFile)
		if err != nil {
			_ = body.Close()
			return fmt.Errorf("the token can't be read: %w", err)
		}
		h.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	response, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", p.host, withoutURL(err))
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode/100 != 2 {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &refusal{p.host, response.StatusCode, time.Duration(seconds) * time.Second}
	}
	return nil
}

// withoutURL is what went wrong, without the address, which may hold a password.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
