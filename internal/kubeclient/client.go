package kubeclient

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"
)

// patience is how long one call may take. An API server gives up on most requests after 60 s itself,
// and one that can't be reached need not be waited for as long as TCP would.
const patience = 30 * time.Second

// Client talks to one cluster. It may be used by several goroutines.
type Client struct {
	target
	core    rest.Interface
	dynamic dynamic.Interface
}

// New reads the kubeconfig and says what is wrong with it. It does not talk to the cluster.
func New(o Options) (*Client, error) {
	t, err := targetOf(o)
	if err != nil {
		return nil, err
	}
	c := &Client{target: t}
	if c.core, err = core(t.config); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfig(t.config); err != nil {
		return nil, unusable(err)
	}
	return c, nil
}

// Namespace is where objects go whose namespace is not said.
func (c *Client) Namespace() string { return c.namespace }

// Host is the API server's host and port.
func (c *Client) Host() string { return c.host }

// Nodes lists all nodes, in the API server's order, which is by name.
func (c *Client) Nodes(ctx context.Context) ([]corev1.Node, error) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	var nodes []corev1.Node
	list := pager.New(func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		page := &corev1.NodeList{}
		return page, c.core.Get().Resource("nodes").VersionedParams(&opts, metav1.ParameterCodec).Do(ctx).Into(page)
	})
	err := list.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
		nodes = append(nodes, *o.(*corev1.Node))
		return nil
	})
	if err != nil {
		return nil, c.explain(err)
	}
	return nodes, nil
}

// Answer is what an API server made of a pod.
type Answer struct {
	Pod      map[string]any // as it would be stored
	Warnings []string       // what the API server had to say about it
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// DryRun asks the API server to create a pod, all admission included, and to store nothing. Fields
// that it does not know are refused (strict field validation); fields that it knows and that are
// switched off are left out of the answer without a word. The pod's own namespace comes before the
// client's.
func (c *Client) DryRun(ctx context.Context, pod map[string]any) (Answer, error) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	ctx, said := collect(ctx)
	object := &unstructured.Unstructured{Object: maps.Clone(pod)}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = c.namespace
	}
	opts := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	stored, err := c.dynamic.Resource(pods).Namespace(namespace).Create(ctx, object, opts)
	if err != nil {
		return Answer{}, c.explain(err)
	}
	return Answer{Pod: stored.Object, Warnings: said()}, nil
}

func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
}

// warnings hands each warning of an API server to the call that it answers.
type warnings struct{}

type warningsKey struct{}

func (warnings) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	if add, ok := ctx.Value(warningsKey{}).(func(string)); ok {
		add(text)
	}
}

// collect gives a context under which warnings are kept, and what gives them.
func collect(ctx context.Context) (context.Context, func() []string) {
	var mu sync.Mutex
	var all []string
	ctx = context.WithValue(ctx, warningsKey{}, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, text)
	})
	return ctx, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}
