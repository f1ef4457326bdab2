package agent

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/record"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
	"github.com/berthdev/berth/devplane/internal/agent/process"
	"github.com/berthdev/berth/devplane/internal/agent/scale"
	"github.com/berthdev/berth/devplane/internal/nodefile"
)

// node is one virtual node. It is up or down; down, it knows nothing and does nothing.
type node struct {
	a        *agent
	spec     nodefile.Node
	recorder record.EventRecorder
	// unwell is told when the API has the node as not Ready though it is up.
	unwell chan struct{}
	live   func(context.Context) (*corev1.Node, error) // the node as it is in the API

	// turn is held while the node goes up or down.
	turn sync.Mutex

	mu      sync.Mutex
	up      bool
	cancel  context.CancelFunc
	running sync.WaitGroup // all goroutines of this life
	bootID  string
	runtime podruntime.Runtime
	object  *corev1.Node // what pods are admitted against
	workers map[types.UID]*worker
	ctx     context.Context
}

func newNode(a *agent, spec nodefile.Node, recorder record.EventRecorder) *node {
	live := func(ctx context.Context) (*corev1.Node, error) {
		return a.client.CoreV1().Nodes().Get(ctx, spec.Name, metav1.GetOptions{})
	}
	return &node{a: a, spec: spec, recorder: recorder, unwell: make(chan struct{}, 1), live: live}
}

// start brings the node up, in a life that ends with ctx or with kill. A node that is up stays as
// it is.
func (n *node) start(ctx context.Context) {
	n.turn.Lock()
	defer n.turn.Unlock()
	pods := n.boot(ctx)
	if pods == nil {
		return
	}
	for _, pod := range pods {
		n.observe(pod)
	}
}

// boot begins a life, and returns the pods to begin it with in the order in which they are to be
// admitted; nil if the node is up already.
func (n *node) boot(ctx context.Context) []*corev1.Pod {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.up || ctx.Err() != nil {
		return nil
	}
	n.up, n.bootID, n.workers = true, string(uuid.NewUUID()), map[types.UID]*worker{}
	n.ctx, n.cancel = context.WithCancel(ctx)
	n.object = nodeObject(n.spec, n.a.endpoint, n.bootID, n.a.now())
	n.runtime = n.newRuntime()
	life := n.ctx
	n.running.Go(func() { n.keepAlive(life) })
	pods := n.a.podsOn(n.spec.Name)
	keep := map[types.UID]bool{}
	for _, pod := range pods {
		keep[pod.UID] = true
	}
	n.runtime.Sweep(keep)
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return pods
}

func (n *node) newRuntime() podruntime.Runtime {
	if n.spec.Kind == nodefile.Scale {
		return scale.New(n.spec.RunFor)
	}
	return process.New(process.Config{
		Dir: filepath.Join(n.a.cfg.Dir, n.spec.Name), Shim: n.a.cfg.Shim, Address: n.a.cfg.Address,
		Server: n.a.server, Allocatable: n.object.Status.Allocatable, Cluster: n.a.cluster,
	})
}

// kill takes the power away. When it returns, nothing of the node runs any more.
func (n *node) kill() {
	n.turn.Lock()
	defer n.turn.Unlock()
	n.mu.Lock()
	if !n.up {
		n.mu.Unlock()
		return
	}
	n.up = false
	n.cancel()
	n.mu.Unlock()
	n.running.Wait()
}

// observe takes note of a pod as it is in the API now.
func (n *node) observe(pod *corev1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.up {
		return
	}
	if w := n.workers[pod.UID]; w != nil {
		w.observe(pod)
		return
	}
	w := newWorker(n, pod)
	w.plan = n.planFor(pod)
	n.workers[pod.UID] = w
	life := n.ctx
	n.running.Go(func() {
		w.run(life)
		n.forget(w)
	})
}

// vanish takes note that a pod is gone from the API.
func (n *node) vanish(uid types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if w := n.workers[uid]; w != nil {
		w.vanish()
	}
}

// forget drops a worker that has nothing to do any more.
func (n *node) forget(w *worker) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.workers[w.uid] == w {
		delete(n.workers, w.uid)
	}
}

// worker is that of a pod, nil if the node is down or does not know it.
func (n *node) worker(uid types.UID) *worker {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.up {
		return nil
	}
	return n.workers[uid]
}

func (n *node) isUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up
}

// seen takes note of the node as it is in the API.
func (n *node) seen(object *corev1.Node) {
	if Healthy(object) || !n.isUp() {
		return
	}
	select {
	case n.unwell <- struct{}{}:
	default:
	}
}
