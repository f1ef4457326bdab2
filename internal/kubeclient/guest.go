package kubeclient

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/executor/kube"
)

// limit is what one kind of call may take per second, and at once after a pause.
type limit struct {
	qps   float32
	burst int
}

// Limits of the executor's clients, each of its own, so that deleting a thousand pods holds up no create.
// An API server of a small cluster creates some 800 pods per second; half of that is as much as a guest
// should ever take, and no create waits for more than a burst's worth: a worker that waits here waits for
// at most the number of workers divided by qps, less than 0.1 s. What is too much for the API server it
// says itself (429), and is obeyed.
var (
	dispatch = limit{400, 800}
	reaping  = limit{400, 800}
	watching = limit{50, 100} // one watch, and a GET per attempt after an interruption
	logs     = limit{100, 200}
	claims   = limit{50, 100}
)

// Guest gives the clients of the Kubernetes executor. All of them share connections; pings notice within
// 45 s if one of these is dead (client-go: HTTP2_READ_IDLE_TIMEOUT_SECONDS, HTTP2_PING_TIMEOUT_SECONDS).
func (c *Client) Guest() (kube.Clients, error) {
	var all kube.Clients
	var failed error
	client := func(l limit, contentType string) rest.Interface {
		config := rest.CopyConfig(c.config)
		config.QPS, config.Burst, config.RateLimiter = l.qps, l.burst, nil
		config.ContentType = contentType
		config.AcceptContentTypes = contentType + "," + runtime.ContentTypeJSON
		k, err := core(config)
		if err != nil {
			failed = err
		}
		return k
	}
	// Pods are sent as the plan has them, untyped; all else is cheaper in protobuf.
	all.Dispatch = client(dispatch, runtime.ContentTypeJSON)
	all.Reap = client(reaping, runtime.ContentTypeProtobuf)
	all.Watch = client(watching, runtime.ContentTypeProtobuf)
	all.Logs = client(logs, runtime.ContentTypeProtobuf)
	all.Claims = client(claims, runtime.ContentTypeProtobuf)
	if failed != nil {
		return kube.Clients{}, failed
	}
	return all, nil
}

// core makes a client of the core group.
func core(config *rest.Config) (rest.Interface, error) {
	c := rest.CopyConfig(config)
	c.APIPath, c.GroupVersion, c.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, kube.Codecs
	k, err := rest.RESTClientFor(c)
	if err != nil {
		return nil, unusable(err)
	}
	return k, nil
}
