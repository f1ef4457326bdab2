package kubeclient

import (
	"testing"

	"k8s.io/client-go/rest"
)

// Each kind of call has a limit of its own, and creates have enough for several hundred a second.
func TestGuest(t *testing.T) {
	t.Parallel()
	k, err := New(Options{Kubeconfig: write(t, valid), Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := k.Guest()
	if err != nil {
		t.Fatal(err)
	}
	clients := map[string]rest.Interface{"dispatch": g.Dispatch, "reap": g.Reap, "watch": g.Watch, "logs": g.Logs, "claims": g.Claims}
	limiters := map[any]string{}
	for name, c := range clients {
		l := c.GetRateLimiter()
		if other, shared := limiters[l]; shared {
			t.Errorf("%s and %s share a limit", name, other)
		}
		limiters[l] = name
		if l.QPS() < 50 {
			t.Errorf("%s: %v per second", name, l.QPS())
		}
	}
	if qps := g.Dispatch.GetRateLimiter().QPS(); qps < 300 {
		t.Errorf("%v creates per second", qps)
	}
	if k.config.QPS != qps {
		t.Error("the limits of all else have changed")
	}
}
