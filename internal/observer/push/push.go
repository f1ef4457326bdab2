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
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
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
