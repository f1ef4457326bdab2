package kubeclient

import (
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/kubeclient/kubeconfig"
)

// What package kubeconfig has, for those who need clients as well.
type (
	Options = kubeconfig.Options
	Error   = kubeconfig.Error
	Refused = kubeconfig.Refused
)

// client-go allows itself 5 requests per second (burst 10) if it is told nothing, and waits without a
// word: a list of a few hundred objects one by one takes a minute. The API server has its own limits
// (priority and fairness), which hold for all clients together; these keep one berth from using them up.
const (
	qps   = 50
	burst = 100
)

// target is a cluster and how Berth talks to it.
type target struct {
	kubeconfig.Target
	config    *rest.Config
	namespace string
	host      string
	context   string
}

func targetOf(o Options) (target, error) {
	t, err := o.Target()
	if err != nil {
		return target{}, err
	}
	t.Config.QPS, t.Config.Burst = qps, burst
	t.Config.WarningHandlerWithContext = warnings{}
	return target{t, t.Config, t.Namespace, t.Host, t.Context}, nil
}

func (t target) explain(err error) error { return t.Explain(err) }

func unusable(err error) error { return kubeconfig.Unusable(err) }
