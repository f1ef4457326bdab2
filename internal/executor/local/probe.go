package local

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/berthdev/berth/internal/plan"
)

// probePatience is how long a probe may take, as a kubelet has it.
const probePatience = time.Second

// asker makes requests of services on this machine, through no proxy. Connections are not kept: nothing of a
// service outlives it.
var asker = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// probe is how to ask a service whether it is ready.
func (r *runner) probe(spec *plan.Service) func(context.Context) bool {
	ready := spec.Ready
	return func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, probePatience)
		defer cancel()
		switch {
		case ready.HTTP != nil:
			return answers(ctx, ready.HTTP)
		case len(ready.Exec) > 0:
			return r.succeeds(ctx, spec)
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", localhost(ready.TCP))
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
}

func localhost(port int) string { return net.JoinHostPort("localhost", strconv.Itoa(port)) }

// answers says whether a GET is answered as a kubelet wants it.
func answers(ctx context.Context, want *plan.HTTP) bool {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+localhost(want.Port)+want.Path, nil)
	if err != nil {
		return false
	}
	a, err := asker.Do(q)
	if err != nil {
		return false
	}
	a.Body.Close()
	return a.StatusCode >= 200 && a.StatusCode < 400
}

// succeeds says whether the service's own command does, as in its container.
func (r *runner) succeeds(ctx context.Context, spec *plan.Service) bool {
	c := command(ctx, spec.Ready.Exec, r.environment(spec.Env), filepath.Join(r.folder, serviceFolder(spec.Name), workFolder), nil)
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c.Run() == nil
}
