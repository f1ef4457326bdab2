package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NodeState is how GET /nodes of the control socket shows a node.
type NodeState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is "up" or "down".
	State string `json:"state"`
}

// listenControl opens the control socket and returns what serves it:
//
//	GET  /nodes             the nodes, as JSON
//	POST /nodes/NAME/kill   takes the power away; answers when nothing runs any more
//	POST /nodes/NAME/start  brings the node back
//
// Both may be repeated. Errors are text.
func (a *agent) listenControl() (func(context.Context) error, error) {
	if err := os.MkdirAll(filepath.Dir(a.cfg.Control), 0o755); err != nil {
		return nil, err
	}
	// Left behind by a process that was killed.
	if err := os.Remove(a.cfg.Control); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", a.cfg.Control)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		return serveUntil(ctx, &http.Server{Handler: a.controlHandler(ctx), ReadHeaderTimeout: 5 * time.Second}, listener, "", "")
	}, nil
}

// controlHandler serves the control socket; nodes that it starts live until life is over.
func (a *agent) controlHandler(life context.Context) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /nodes", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(a.states())
	})
	act := func(f func(*node) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n := a.nodes[r.PathValue("name")]
			if n == nil {
				http.Error(w, fmt.Sprintf("no node %q; there are: %s", r.PathValue("name"), strings.Join(a.order, ", ")), http.StatusNotFound)
				return
			}
			select {
			case <-a.ready:
			case <-r.Context().Done():
				return
			}
			if err := f(n); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusNoContent)
		}
	}
	mux.HandleFunc("POST /nodes/{name}/kill", act(func(n *node) error {
		err := os.WriteFile(a.killedFile(n), nil, 0o600)
		n.kill()
		return err
	}))
	mux.HandleFunc("POST /nodes/{name}/start", act(func(n *node) error {
		err := os.Remove(a.killedFile(n))
		n.start(life)
		if os.IsNotExist(err) {
			return nil
		}
		return err
	}))
	return mux
}

// killedFile exists while a node is down on request.
func (a *agent) killedFile(n *node) string { return filepath.Join(a.cfg.Dir, n.spec.Name+".killed") }

func (a *agent) states() []NodeState {
	states := []NodeState{}
	for _, name := range a.order {
		n := a.nodes[name]
		s := NodeState{Name: name, Kind: string(n.spec.Kind), State: "down"}
		if n.isUp() {
			s.State = "up"
		}
		states = append(states, s)
	}
	return states
}

// serveUntil serves until ctx is done, with TLS if there is a certificate.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener, certFile, keyFile string) error {
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	var err error
	if certFile != "" {
		err = s.ServeTLS(l, certFile, keyFile)
	} else {
		err = s.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
