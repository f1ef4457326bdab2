package process

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// watch looks after a container that has just begun to run: its postStart hook, then its probes.
func (p *podRun) watch(lives context.Context, r *record) {
	c, x := r.c, r.run
	if c.StartupProbe == nil && (c.Lifecycle == nil || c.Lifecycle.PostStart == nil) {
		r.started = true
		r.ready = c.ReadinessProbe == nil
	}
	if c.StartupProbe == nil && c.ReadinessProbe == nil && c.LivenessProbe == nil && (c.Lifecycle == nil || c.Lifecycle.PostStart == nil) {
		return
	}
	p.background.Go(func() {
		ctx, cancel := x.context(lives)
		defer cancel()
		if c.Lifecycle != nil && c.Lifecycle.PostStart != nil && !p.postStart(ctx, lives, r, x) {
			return
		}
		p.probe(ctx, lives, r, x)
	})
}

// postStart runs the hook, without which the container does not count as started.
func (p *podRun) postStart(ctx, lives context.Context, r *record, x *run) bool {
	_, err := p.hook(ctx, r.c, x, r.c.Lifecycle.PostStart)
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		p.ctl.Event(r.c, corev1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed")
		p.send(func() {
			if r.run == x && r.stop == nil {
				p.beginStop(lives, r, time.Now().Add(p.grace()), "FailedPostStartHook")
			}
		})
		return false
	}
	return true
}

// hook runs a lifecycle hook with the kubelet's own handler.
func (p *podRun) hook(ctx context.Context, c *corev1.Container, x *run, h *corev1.LifecycleHandler) (string, error) {
	handler := lifecycle.NewHandlerRunner(bound{ctx}, runner{p.r, x.task}, podAddress(p.r.cfg.Address), nil)
	return handler.Run(ctx, kubecontainer.ContainerID{Type: podruntime.Scheme, ID: x.id}, p.pod, c, h)
}

// bound makes requests that end with a context, which the handler does not give them. As in the
// kubelet nobody checks the certificate of a container.
type bound struct{ ctx context.Context }

var hookClient = &http.Client{Transport: &http.Transport{
	TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
}}

func (b bound) Do(req *http.Request) (*http.Response, error) {
	return hookClient.Do(req.WithContext(b.ctx))
}

// podAddress tells a hook where to find the pod.
type podAddress string

func (a podAddress) GetPod(_ context.Context, uid types.UID) (*kubecontainer.Pod, error) {
	return &kubecontainer.Pod{ID: uid}, nil
}

func (a podAddress) GetPodStatus(context.Context, *kubecontainer.Pod) (*kubecontainer.PodStatus, error) {
	return &kubecontainer.PodStatus{IPs: []string{string(a)}}, nil
}
