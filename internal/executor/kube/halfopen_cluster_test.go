package kube

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Something between here and the API server swallows all that is sent on a connection, and never closes it. That is
// noticed by what HTTP/2 asks of a silent connection, and what happened meanwhile is seen on another one.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	p := newProxy(t, c.Config)
	r := &rig{Cluster: c, t: t, clients: clients(t, p.config)}
	r.begin(c.Namespace(t), "01TEST00000000000000HALFOP")
	a := attempt1(t, "process", `run: "sleep 1"`)
	r.Start(a)
	r.untilPhase(a.Ref, run.PhaseRunning)
	p.swallow()
	late := time.After(2 * time.Minute) // 30 s of silence and 15 s without an answer, as client-go has it
	for over := false; !over; {
		r.lock.Lock()
		o, changed := r.last[a.Ref], r.changed
		r.lock.Unlock()
		if over = o.Phase == run.PhaseEnded; over {
			if o.End == nil || o.End.Class != run.Success {
				t.Errorf("%+v", o)
			}
			continue
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("never ended: %+v", o)
		}
	}
	r.Stop(executor.Stop{Ref: a.Ref})
	r.untilPhase(a.Ref, run.PhaseGone)
	r.lawful()
}

// proxy passes connections to an API server on.
type proxy struct {
	config *rest.Config // of a client that goes through it
	to     string

	mu       sync.Mutex
	conns    []net.Conn
	silenced chan struct{} // closed when the connections that there are swallow everything
}

func newProxy(t *testing.T, config *rest.Config) *proxy {
	t.Helper()
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{config: rest.CopyConfig(config), to: to.Host, silenced: make(chan struct{})}
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.conns {
			c.Close()
		}
	})
	p.config.Host = "https://" + l.Addr().String()
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(from)
		}
	}()
	return p
}

// swallow makes the connections that there are half-open. Later ones work.
func (p *proxy) swallow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.silenced)
	p.silenced = make(chan struct{})
}

func (p *proxy) pass(from net.Conn) {
	p.mu.Lock()
	silenced := p.silenced
	p.mu.Unlock()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		from.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, from, to)
	p.mu.Unlock()
	var all sync.WaitGroup
	forward := func(dst io.Writer, src io.Reader) {
		buf := make([]byte, 32<<10)
		for {
			n, err := src.Read(buf)
			if err != nil {
				return
			}
			select {
			case <-silenced:
				continue
			default:
			}
			if _, err := dst.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	all.Go(func() { forward(to, from) })
	all.Go(func() { forward(from, to) })
	all.Wait()
	from.Close()
	to.Close()
}
