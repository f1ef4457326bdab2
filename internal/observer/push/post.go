package push

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	observer "github.com/berthdev/berth/api/observer/v1"
)

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
