// Package plane brings one devplane up, keeps it up, breaks parts of it on request, and takes it
// down again.
//
// Up runs in the supervisor process. It owns the instance's folder from the first step on; every
// way out of it, error or not, stops what was started, in order, and sweeps. The order of start:
//
//	etcd, API server -> scheduler, controller manager -> nodes process, real nodes -> ready
//
// and the opposite order of stop, each part waited for.
package plane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/devplane/internal/agent"
	"github.com/berthdev/berth/devplane/internal/controlplane"
	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/pki"
	"github.com/berthdev/berth/devplane/internal/realnode"
	"github.com/berthdev/berth/devplane/internal/supervise"
	"k8s.io/client-go/kubernetes"
)

// NodesPart is the process that stands for all process and scale nodes.
const NodesPart = "nodes"

// Options is what `devplane up` is told.
type Options struct {
	Dir          string          `json:"dir"`
	Nodes        []nodefile.Node `json:"nodes"`
	FeatureGates string          `json:"feature_gates,omitempty"`
	NodeGrace    time.Duration   `json:"node_grace"`
	Timeout      time.Duration   `json:"timeout"` // until ready
}

// Tools are the programs that were built together with devplane and lie beside it.
type Tools struct{ Self, Shim, Pause string }

// FindTools finds the programs beside this one.
func FindTools() (Tools, error) {
	self, err := os.Executable()
	if err != nil {
		return Tools{}, err
	}
	dir := filepath.Dir(self)
	t := Tools{Self: self, Shim: filepath.Join(dir, "shim"), Pause: filepath.Join(dir, "pause")}
	for _, path := range []string{t.Shim, t.Pause} {
		if _, err := exec.LookPath(path); err != nil {
			return Tools{}, fmt.Errorf("%s is missing: devplane, shim and pause belong into one folder; build them with: go run ./build", path)
		}
	}
	return t, nil
}

// Plane is a devplane that is coming up or up.
type Plane struct {
	opts   Options
	tools  Tools
	in     *instance.Instance
	cp     *controlplane.Plane
	client kubernetes.Interface
	say    func(string)

	real    []*realnode.Node
	stop    context.CancelCauseFunc
	isReady atomic.Bool

	mu     sync.Mutex
	parts  []*supervise.Part      // in starting order
	timers map[string]*time.Timer // by part: what undoes a fault
}

// started are the parts so far.
func (p *Plane) started() []*supervise.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.parts)
}

// ErrStopped is the cause of an end that was asked for.
var ErrStopped = errors.New("stopped")

// Run brings a devplane up, calls ready, keeps it up until ctx is done or a part can't be kept
// running, and takes it down. It returns nil if it came up and ended because ctx did.
// say gets one sentence for each step and each unasked event.
func Run(ctx context.Context, opts Options, version string, say func(string), ready func(*instance.Instance)) (err error) {
	tools, err := FindTools()
	if err != nil {
		return err
	}
	in, err := instance.Create(opts.Dir, version)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := &Plane{opts: opts, tools: tools, in: in, say: say, stop: stop, timers: map[string]*time.Timer{}}
	defer func() {
		if errors.Is(err, ErrStopped) {
			err = nil
		}
		err = errors.Join(err, p.down())
	}()

	in.Supervisor, in.Guard = os.Getpid(), os.Getppid()
	for _, n := range opts.Nodes {
		if n.Kind == nodefile.Real {
			in.RealNodes = append(in.RealNodes, n.Name)
		}
	}
	if err := in.Save(); err != nil {
		return err
	}
	server, err := p.listen() // from here on it can be asked to stop
	if err != nil {
		return err
	}
	defer server.Close()
	if err := p.up(ctx); err != nil {
		return err
	}
	for _, part := range p.started() {
		part.Settle()
	}
	p.isReady.Store(true)
	ready(in)
	return supervise.WaitFailed(ctx, p.started())
}

// up starts everything and returns when all nodes are ready.
func (p *Plane) up(ctx context.Context) error {
	// The first part that ends while coming up ends it all, with its own last words.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, done := context.WithTimeoutCause(ctx, p.opts.Timeout, fmt.Errorf("not ready after %s", p.opts.Timeout))
	defer done()
	err := p.bringUp(ctx, cancel)
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if err == nil || errors.Is(err, cause) {
			return err
		}
		return cause // what failed, failed because of it
	}
	return err
}

func (p *Plane) bringUp(ctx context.Context, cancel context.CancelCauseFunc) error {
	began := time.Now()
	var err error
	p.cp, err = controlplane.Prepare(controlplane.Config{Instance: p.in, Self: p.tools.Self,
		FeatureGates: p.opts.FeatureGates, NodeGrace: p.opts.NodeGrace})
	if err != nil {
		return err
	}
	if p.client, err = p.cp.Client(); err != nil {
		return err
	}
	specs := p.cp.Parts()
	if err := p.start(cancel, specs[:2]...); err != nil {
		return err
	}
	if err := p.cp.WaitAPIServer(ctx); err != nil {
		return err
	}
	if err := p.start(cancel, specs[2:]...); err != nil {
		return err
	}
	if err := p.cp.Bootstrap(ctx); err != nil {
		return err
	}
	if err := p.cp.WaitControllers(ctx); err != nil {
		return err
	}
	p.say(fmt.Sprintf("control plane %s ready after %.1fs", p.in.Version, time.Since(began).Seconds()))
	if err := p.startNodes(ctx, cancel); err != nil {
		return err
	}
	if err := p.waitNodes(ctx); err != nil {
		return err
	}
	p.say(fmt.Sprintf("%d nodes ready after %.1fs", len(p.opts.Nodes), time.Since(began).Seconds()))
	return nil
}

// start starts parts; one that fails while coming up cancels.
func (p *Plane) start(cancel context.CancelCauseFunc, specs ...supervise.Spec) error {
	for _, spec := range specs {
		part := supervise.New(spec, p.say)
		part.OnFail(func(err error) { cancel(err) })
		p.mu.Lock()
		p.parts = append(p.parts, part)
		p.mu.Unlock()
		if err := part.Start(); err != nil {
			return err
		}
	}
	return nil
}

// startNodes starts the nodes process, also when it has no node: it provisions the volumes.
func (p *Plane) startNodes(ctx context.Context, cancel context.CancelCauseFunc) error {
	kubeconfig, err := p.cp.Identity("nodes", controlplane.NodesUser)
	if err != nil {
		return err
	}
	volumes, err := p.cp.Identity("volumes", controlplane.VolumesUser)
	if err != nil {
		return err
	}
	serving, err := p.cp.CA.Issue("nodes-serving", pki.Subject{Name: controlplane.NodesUser, Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return err
	}
	cfg := NodesConfig{
		Agent: agent.Config{
			Kubeconfig: kubeconfig, Dir: filepath.Join(p.in.NodesDir(), "agent"), Shim: p.tools.Shim,
			ClientCAFile: p.cp.CA.File(), CertFile: serving.Cert, KeyFile: serving.Key,
			Address: "127.0.0.1", Control: p.nodesSocket(),
			// Renewed four times before a node counts as lost: a busy machine is late.
			LeaseDuration: p.opts.NodeGrace, HeartbeatEvery: p.opts.NodeGrace / 4,
		},
		Volumes: VolumesConfig{Kubeconfig: volumes, Dir: p.in.Path("volumes")},
	}
	for _, n := range p.opts.Nodes {
		if n.Kind != nodefile.Real {
			cfg.Agent.Nodes = append(cfg.Agent.Nodes, n)
		}
	}
	data, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return err
	}
	path := p.in.Path("nodes.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	if err := p.start(cancel, p.cp.Part(NodesPart, path)); err != nil {
		return err
	}
	return p.startRealNodes(ctx, cancel)
}

// NodesConfig is what the nodes process reads.
type NodesConfig struct {
	Agent   agent.Config  `json:"agent"`
	Volumes VolumesConfig `json:"volumes"`
}

// VolumesConfig is for the provisioner.
type VolumesConfig struct {
	Kubeconfig string `json:"kubeconfig"`
	Dir        string `json:"dir"` // holds a folder for each volume
}

func (p *Plane) nodesSocket() string { return filepath.Join(p.in.RunDir(), "nodes.sock") }

func (p *Plane) startRealNodes(ctx context.Context, cancel context.CancelCauseFunc) error {
	for _, n := range p.opts.Nodes {
		if n.Kind != nodefile.Real {
			continue
		}
		node := realnode.New(p.cp, len(p.real), n, p.tools.Pause)
		p.real = append(p.real, node)
		if err := node.Prepare(); err != nil {
			return err
		}
		if err := p.start(cancel, node.Containerd()); err != nil {
			return err
		}
	}
	for _, node := range p.real {
		if err := node.WaitContainerd(ctx); err != nil {
			return err
		}
		if err := node.ImportImages(ctx); err != nil {
			return err
		}
		if err := p.start(cancel, node.Kubelet()); err != nil {
			return err
		}
	}
	return nil
}

// down stops every part in the opposite order of their start and removes what they hold.
func (p *Plane) down() error {
	parts := p.started()
	p.mu.Lock()
	for _, t := range p.timers {
		t.Stop()
	}
	p.mu.Unlock()
	for _, part := range parts {
		part.Close()
	}
	for _, part := range slices.Backward(parts) {
		part.Stop()
	}
	for _, n := range p.real {
		n.Kill()
	}
	return Sweep(p.in)
}
