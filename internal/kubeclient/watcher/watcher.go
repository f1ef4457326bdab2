// Package watcher builds the observer's clients. They list and watch; nothing here could change an object.
//
// It promises what package kubeclient promises, and that a program which uses it links no types but those of
// the core group: of all else the metadata is enough.
package watcher

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/kubeclient/kubeconfig"
)

// Limits of requests per second, and at once. A watch is one request for minutes; what comes more often comes
// after a failure, and waits.
const (
	qps   = 10
	burst = 20
)

// Client talks to one cluster. It may be used by several goroutines.
type Client struct {
	target kubeconfig.Target
	core   rest.Interface
	meta   metadata.Interface
}

// New reads the kubeconfig and says what is wrong with it. It does not talk to the cluster. The codecs decode the
// core group's own types.
func New(o kubeconfig.Options, codecs runtime.NegotiatedSerializer) (*Client, error) {
	t, err := o.Target()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(t.Config)
	config.QPS, config.Burst = qps, burst
	config.WarningHandler = rest.NoWarnings{}
	// A list is some 40 MB for 10,000 pods, once. To pack and unpack it costs the API server and this program more
	// than it saves: a fifth of all CPU until the first payload.
	config.DisableCompression = true
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	transport, err := rest.HTTPClientFor(config) // and so one connection
	if err != nil {
		return nil, kubeconfig.Unusable(err)
	}
	c := &Client{target: t}
	if c.core, err = core(config, transport, codecs); err != nil {
		return nil, kubeconfig.Unusable(err)
	}
	if c.meta, err = metadata.NewForConfigAndClient(config, transport); err != nil {
		return nil, kubeconfig.Unusable(err)
	}
	return c, nil
}

func core(config *rest.Config, transport *http.Client, codecs runtime.NegotiatedSerializer) (rest.Interface, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion = "/api", &corev1.SchemeGroupVersion
	c.NegotiatedSerializer = codecs
	return rest.RESTClientForConfigAndClient(c, transport)
}

// Core is a client of the core group's own types.
func (c *Client) Core() rest.Interface { return c.core }

// Metadata is a client of a resource's metadata. An empty namespace means all of them.
func (c *Client) Metadata(r schema.GroupVersionResource, namespace string) metadata.ResourceInterface {
	if namespace == metav1.NamespaceAll {
		return c.meta.Resource(r)
	}
	return c.meta.Resource(r).Namespace(namespace)
}

// Namespace is that of the kubeconfig, or of the pod that this runs in.
func (c *Client) Namespace() string { return c.target.Namespace }

// Explain says in words what an error of a call means.
func (c *Client) Explain(err error) error { return c.target.Explain(err) }
