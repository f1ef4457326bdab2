package agent

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/devplane/internal/agent/process"
)

// agent is all that the nodes share.
type agent struct {
	cfg      Config
	client   kubernetes.Interface
	cluster  process.Cluster
	server   string // host:port of the API server
	endpoint endpoint
	pods     cache.SharedIndexInformer
	nodes    map[string]*node
	order    []string // names of nodes, as configured
	now      func() time.Time
	// ready is closed once the pods are known and the nodes started; before, none may be killed or
	// started.
	ready chan struct{}
}

// byNode is the name of the pods' index.
const byNode = "node"

// Run brings up all nodes and blocks until ctx is done; then it kills them. The objects of the
// nodes are Ready soon after it was called. It fails at once if the configuration can't work, and
// waits for an API server that is not there yet.
func Run(ctx context.Context, cfg Config) error {
	a, err := newAgent(cfg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var servers sync.WaitGroup
	defer servers.Wait()
	defer cancel(nil)
	serve := func(what string, f func(context.Context) error) {
		servers.Go(func() {
			if err := f(ctx); err != nil {
				cancel(fmt.Errorf("agent: %s: %w", what, err))
			}
		})
	}
	events := record.NewBroadcaster(record.WithContext(ctx))
	defer events.Shutdown()
	a.makeNodes(events) // before anybody can ask for one
	endpoint, err := a.listenKubelet()
	if err != nil {
		return fmt.Errorf("agent: the kubelet endpoint: %w", err)
	}
	serve("the kubelet endpoint", endpoint)
	control, err := a.listenControl()
	if err != nil {
		return fmt.Errorf("agent: the control socket: %w", err)
	}
	serve("the control socket", control)

	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: a.client.CoreV1().Events("")})
	servers.Go(func() { a.pods.RunWithContext(ctx) })
	nodes := a.watchNodes()
	servers.Go(func() { nodes.RunWithContext(ctx) })
	if cache.WaitForCacheSync(ctx.Done(), a.pods.HasSynced) {
		a.startAll(ctx)
		close(a.ready)
	}
	<-ctx.Done()
	a.killAll()
	if err := context.Cause(ctx); err != context.Canceled && err != context.DeadlineExceeded {
		return err
	}
	return nil
}

func newAgent(cfg Config) (*agent, error) {
	config, client, err := cfg.client()
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("agent: the address of the API server: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	a := &agent{
		cfg: cfg, client: client, cluster: process.NewCluster(client), server: server.Host,
		nodes: map[string]*node{}, now: time.Now, ready: make(chan struct{}),
	}
	a.pods = a.watchPods()
	return a, nil
}

// makeNodes makes the nodes, all down.
func (a *agent) makeNodes(events record.EventBroadcaster) {
	for _, spec := range a.cfg.Nodes {
		source := corev1.EventSource{Component: "kubelet", Host: spec.Name}
		a.nodes[spec.Name] = newNode(a, spec, events.NewRecorder(scheme.Scheme, source))
		a.order = append(a.order, spec.Name)
	}
}

// startAll starts the nodes but those that were killed on request: a restart of this process does
// not bring the power back.
func (a *agent) startAll(ctx context.Context) {
	var all sync.WaitGroup
	for _, n := range a.nodes {
		if _, err := os.Stat(a.killedFile(n)); err == nil {
			continue
		}
		all.Go(func() { n.start(ctx) })
	}
	all.Wait()
}

func (a *agent) killAll() {
	var all sync.WaitGroup
	for _, n := range a.nodes {
		all.Go(n.kill)
	}
	all.Wait()
}

// watchPods is the one watch of pods: all that are on a node, with an index by node.
func (a *agent) watchPods() cache.SharedIndexInformer {
	selector := fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	pods := a.client.CoreV1().Pods(metav1.NamespaceAll)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = selector
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = selector
			return pods.Watch(ctx, o)
		},
	}
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, a.client), &corev1.Pod{}, 0, cache.Indexers{
		byNode: func(o any) ([]string, error) { return []string{o.(*corev1.Pod).Spec.NodeName}, nil },
	})
	must(informer.SetTransform(withoutManagedFields))
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { a.observe(o.(*corev1.Pod)) },
		UpdateFunc: func(old, o any) {
			// A pod that was replaced by one of the same name shows as an update.
			if was, is := old.(*corev1.Pod), o.(*corev1.Pod); was.UID != is.UID {
				a.vanish(was)
			}
			a.observe(o.(*corev1.Pod))
		},
		DeleteFunc: func(o any) {
			if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = unknown.Obj
			}
			if pod, ok := o.(*corev1.Pod); ok {
				a.vanish(pod)
			}
		},
	})
	must(err)
	return informer
}

// withoutManagedFields saves memory: they are half of a small pod, and nobody here reads them.
func withoutManagedFields(o any) (any, error) {
	if object, ok := o.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return o, nil
}

func (a *agent) observe(pod *corev1.Pod) {
	if n := a.nodes[pod.Spec.NodeName]; n != nil {
		n.observe(pod)
	}
}

func (a *agent) vanish(pod *corev1.Pod) {
	if n := a.nodes[pod.Spec.NodeName]; n != nil {
		n.vanish(pod.UID)
	}
}

// podsOn are the pods of a node in the API.
func (a *agent) podsOn(name string) []*corev1.Pod {
	objects, err := a.pods.GetIndexer().ByIndex(byNode, name)
	must(err)
	pods := make([]*corev1.Pod, len(objects))
	for i, o := range objects {
		pods[i] = o.(*corev1.Pod)
	}
	return pods
}

// watchNodes tells each node how the API sees it.
func (a *agent) watchNodes() cache.SharedIndexInformer {
	nodes := a.client.CoreV1().Nodes()
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = LabelPool
			return nodes.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.LabelSelector = LabelPool
			return nodes.Watch(ctx, o)
		},
	}
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, a.client), &corev1.Node{}, 0, cache.Indexers{})
	see := func(o any) {
		object := o.(*corev1.Node)
		if n := a.nodes[object.Name]; n != nil {
			n.seen(object)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, o any) { see(o) }})
	must(err)
	return informer
}

// must is for errors that say that this package is wrong.
func must(err error) {
	if err != nil {
		klog.ErrorS(err, "Broken invariant")
		panic(err)
	}
}
