package plane

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/realnode"
	"github.com/berthdev/berth/devplane/internal/supervise"
)

// Fault is something to break.
type Fault struct {
	// Kind is kill, start, pause, resume or compact.
	Kind string `json:"kind"`
	// Part is a part's name, its short name (apiserver, scheduler, controller-manager) or
	// node/NAME. compact has none.
	Part string `json:"part,omitempty"`
	// For is how long the part stays down (kill) or stopped (pause) before it is started or
	// resumed again; 0 with Hold unset means at once (kill only).
	For time.Duration `json:"for,omitempty"`
	// Hold leaves the part as the fault made it until start or resume.
	Hold bool `json:"hold,omitempty"`
}

// Kinds are the kinds of faults.
var Kinds = []string{"kill", "start", "pause", "resume", "compact"}

// victim is what a fault can do to one part.
type victim struct {
	kill   func() error
	start  func() error
	pause  func() error
	resume func() error
}

// Break carries out a fault and returns when its first half is done: the part is dead or stopped.
// What follows after For happens in the background, unless For is 0: then the part is back, and
// if it is the API server, ready.
func (p *Plane) Break(ctx context.Context, f Fault) error {
	if f.Kind == "compact" {
		return p.compact(ctx)
	}
	if f.For < 0 {
		return inputError("--for %s: a time can't be negative", f.For)
	}
	v, err := p.victim(f.Part)
	if err != nil {
		return err
	}
	p.forgetTimer(f.Part) // what an earlier fault had in mind no longer holds
	var first, second func() error
	switch f.Kind {
	case "kill":
		first, second = v.kill, v.start
	case "pause":
		if f.For == 0 && !f.Hold {
			return inputError("pause needs a time (--for 10s) or --hold")
		}
		first, second = v.pause, v.resume
	case "start":
		first = v.start
	case "resume":
		first = v.resume
	default:
		return inputError("unknown fault %q; known are %s", f.Kind, strings.Join(Kinds, ", "))
	}
	if first == nil {
		return inputError("%s can't be done to %s: pause the part %s, or kill the node", f.Kind, f.Part, NodesPart)
	}
	if err := first(); err != nil {
		return err
	}
	p.say(fmt.Sprintf("fault: %s %s", f.Kind, f.Part))
	if second == nil || f.Hold {
		return p.settled(ctx, f)
	}
	if f.For > 0 {
		p.later(f.Part, f.For, second)
		return nil
	}
	if err := second(); err != nil {
		return err
	}
	return p.settled(ctx, f)
}

// settled waits for the API server where a fault has just given it back.
func (p *Plane) settled(ctx context.Context, f Fault) error {
	if f.Hold || fullName(f.Part) != controlplane.APIServer {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.opts.Timeout, fmt.Errorf("not ready after %s", p.opts.Timeout))
	defer cancel()
	return p.cp.WaitAPIServer(ctx)
}

// InputError is a fault that makes no sense, as opposed to one that did not work.
type InputError struct{ text string }

func (e InputError) Error() string { return e.text }

func inputError(format string, args ...any) error { return InputError{fmt.Sprintf(format, args...)} }

// later undoes a fault after a while, unless another fault of the part or the end comes first.
func (p *Plane) later(part string, after time.Duration, undo func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timers[fullName(part)] = time.AfterFunc(after, func() {
		if err := undo(); err != nil {
			p.say(fmt.Sprintf("fault: %s did not come back: %v", part, err))
		}
	})
}

func (p *Plane) forgetTimer(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.timers[fullName(part)]; t != nil {
		t.Stop()
	}
}

func fullName(part string) string {
	switch part {
	case "apiserver", "scheduler", "controller-manager":
		return "kube-" + part
	}
	return part
}

func (p *Plane) victim(name string) (victim, error) {
	if node, ok := strings.CutPrefix(name, "node/"); ok {
		return p.nodeVictim(node)
	}
	part := p.part(fullName(name))
	if part == nil {
		return victim{}, inputError("no part %q; there are %s", name, strings.Join(p.names(), ", "))
	}
	return victim{
		kill:  func() error { part.Kill(); return nil },
		start: part.Start, pause: part.Pause, resume: part.Resume,
	}, nil
}

func (p *Plane) part(name string) *supervise.Part {
	for _, part := range p.started() {
		if part.Name() == name {
			return part
		}
	}
	return nil
}

func (p *Plane) names() []string {
	var names []string
	for _, part := range p.started() {
		names = append(names, part.Name())
	}
	for _, n := range p.opts.Nodes {
		names = append(names, "node/"+n.Name)
	}
	return names
}

func (p *Plane) nodeVictim(name string) (victim, error) {
	i := slices.IndexFunc(p.opts.Nodes, func(n nodefile.Node) bool { return n.Name == name })
	if i < 0 {
		return victim{}, inputError("no node %q; there are %s", name, strings.Join(p.names(), ", "))
	}
	if p.opts.Nodes[i].Kind != nodefile.Real {
		return victim{
			kill:  func() error { return p.tellNodes(name, "kill") },
			start: func() error { return p.tellNodes(name, "start") },
		}, nil
	}
	r := slices.IndexFunc(p.real, func(n *realnode.Node) bool { return n.Name == name })
	node, containerd, kubelet := p.real[r], p.part("containerd-"+name), p.part("kubelet-"+name)
	return victim{
		kill: func() error {
			kubelet.Kill()
			containerd.Kill()
			node.Kill()
			return nil
		},
		start: func() error {
			if err := containerd.Start(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(context.Background(), p.opts.Timeout)
			defer cancel()
			if err := node.WaitContainerd(ctx); err != nil {
				return err
			}
			return kubelet.Start()
		},
		pause:  func() error { return cmp.Or(kubelet.Pause(), containerd.Pause()) },
		resume: func() error { return cmp.Or(containerd.Resume(), kubelet.Resume()) },
	}, nil
}

// tellNodes asks the nodes process to kill or start one of its nodes.
func (p *Plane) tellNodes(node, verb string) error {
	return post(p.nodesSocket(), "/nodes/"+node+"/"+verb, nil)
}

func unixClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // a client asks once
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}
