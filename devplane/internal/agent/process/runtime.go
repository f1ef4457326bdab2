package process

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// Config is what the runtime of one node needs.
type Config struct {
	// Dir holds the pods' volumes and logs; it is the node's alone.
	Dir string
	// Shim is the path of the compiled shim; not used where there are no namespaces.
	Shim string
	// Address is the node's, and its pods'.
	Address string
	// Server is host:port of the API server, for the pods' environment.
	Server string
	// Allocatable is what the node has.
	Allocatable corev1.ResourceList
	Cluster     Cluster
}

// Runtime implements podruntime.Runtime.
type Runtime struct {
	cfg Config
	on  platform

	mu      sync.Mutex
	running map[string]bool // container IDs
}

var _ podruntime.Runtime = (*Runtime)(nil)

// New makes the runtime of a node.
func New(cfg Config) *Runtime {
	return &Runtime{cfg: cfg, on: thisPlatform(), running: map[string]bool{}}
}

// Refuse implements podruntime.Runtime.
func (r *Runtime) Refuse(pod *corev1.Pod) []string { return refuse(pod, r.on) }

// Run implements podruntime.Runtime.
func (r *Runtime) Run(ctx context.Context, pod *corev1.Pod, ctl *podruntime.Control) {
	newPodRun(r, pod, ctl).loop(ctx)
}

// Forget implements podruntime.Runtime.
func (r *Runtime) Forget(uid types.UID) { os.RemoveAll(r.podDir(uid)) }

// Sweep implements podruntime.Runtime.
func (r *Runtime) Sweep(keep map[types.UID]bool) {
	entries, _ := os.ReadDir(filepath.Join(r.cfg.Dir, "pods"))
	for _, e := range entries {
		if !keep[types.UID(e.Name())] {
			r.Forget(types.UID(e.Name()))
		}
	}
}

func (r *Runtime) podDir(uid types.UID) string {
	return filepath.Join(r.cfg.Dir, "pods", string(uid))
}

func (r *Runtime) facts() facts {
	return facts{address: r.cfg.Address, allocatable: r.cfg.Allocatable, server: r.cfg.Server}
}

func (r *Runtime) isRunning(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running[id]
}

func (r *Runtime) setRunning(id string, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is {
		r.running[id] = true
	} else {
		delete(r.running, id)
	}
}

// sleep waits, and says whether it was not interrupted.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
