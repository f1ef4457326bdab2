package plane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/supervise"
)

// Status is a running devplane as `devplane status -o json` prints it.
type Status struct {
	Instance   *instance.Instance `json:"instance"`
	Dir        string             `json:"dir"`
	Ready      bool               `json:"ready"` // false while coming up
	Kubeconfig string             `json:"kubeconfig"`
	AuditLog   string             `json:"audit_log"`
	Parts      []supervise.Status `json:"parts"`
}

// listen serves the supervisor's commands on a Unix socket in a folder that only the user can
// enter.
func (p *Plane) listen() (*http.Server, error) {
	l, err := net.Listen("unix", p.in.Socket())
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(p.status()) })
	mux.HandleFunc("POST /stop", func(http.ResponseWriter, *http.Request) { p.stop(ErrStopped) })
	mux.HandleFunc("POST /fault", func(w http.ResponseWriter, r *http.Request) {
		if !p.isReady.Load() {
			http.Error(w, "the devplane is still coming up", http.StatusServiceUnavailable)
			return
		}
		var f Fault
		err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&f)
		if err == nil {
			err = p.Break(r.Context(), f)
		}
		var bad InputError
		switch {
		case errors.As(err, &bad):
			http.Error(w, err.Error(), http.StatusBadRequest)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }()
	return server, nil
}

func (p *Plane) status() Status {
	s := Status{Instance: p.in, Dir: p.in.Dir, Ready: p.isReady.Load(), Kubeconfig: p.in.Kubeconfig(), AuditLog: controlplane.AuditLog(p.in)}
	for _, part := range p.started() {
		s.Parts = append(s.Parts, part.Status())
	}
	return s
}

// AskStatus asks a running devplane how it is.
func AskStatus(in *instance.Instance) (*Status, error) {
	res, err := unixClient(in.Socket()).Get("http://devplane/status")
	if err != nil {
		return nil, notAnswering(in, err)
	}
	defer res.Body.Close()
	s := &Status{}
	return s, json.NewDecoder(res.Body).Decode(s)
}

// AskFault asks a running devplane for a fault and returns when it is done.
func AskFault(in *instance.Instance, f Fault) error {
	return notAnswering(in, post(in.Socket(), "/fault", f))
}

// AskStop asks a running devplane to end, and waits until it has, or ctx is done.
func AskStop(ctx context.Context, in *instance.Instance) error {
	err := post(in.Socket(), "/stop", nil)
	// Only one that could not be asked is an error: one that was may be gone before it answers.
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" && in.Running() {
		return notAnswering(in, err)
	}
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	// The guard is the last to go: it cleans up behind the supervisor.
	for in.Running() || proc.Alive(in.Guard) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the devplane in %s has not ended: %w", in.Dir, context.Cause(ctx))
		case <-t.C:
		}
	}
	return nil
}

func notAnswering(in *instance.Instance, err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return fmt.Errorf("the devplane in %s is going down, or hangs (%w)", in.Dir, err)
	}
	return err
}

// post sends body as JSON and returns the answer's text as error unless it is 200.
func post(socket, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	res, err := unixClient(socket).Post("http://devplane"+path, "application/json", bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		if res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusNotFound {
			return InputError{strings.TrimSpace(string(text))}
		}
		return errors.New(strings.TrimSpace(string(text)))
	}
	return nil
}
