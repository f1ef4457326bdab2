package kubeclient

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	// Kubeconfigs may name these ways to log in; client-go has them only if they are linked.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

// Options say which cluster and who asks. The zero Options are what kubectl takes without flags.
type Options struct {
	Kubeconfig string // a file; else those of KUBECONFIG; else ~/.kube/config; else, in a pod, its cluster
	Context    string // else the kubeconfig's current context
	Namespace  string // else the context's; else "default"
	Version    string // of Berth, for the user agent
}

// client-go allows itself 5 requests per second (burst 10) if it is told nothing, and waits without a
// word: a list of a few hundred objects one by one takes a minute. The API server has its own limits
// (priority and fairness), which hold for all clients together; these keep one berth from using them up.
const (
	qps   = 50
	burst = 100
)

// target is a cluster and how to talk to it.
type target struct {
	config    *rest.Config
	namespace string
	context   string // empty in a pod
	host      string // of config.Host, which may be a URL with more in it than one wants to read
}

func (o Options) target() (target, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.MigrationRules = nil // which copy files of Kubernetes 0.x to where they are now
	rules.WarnIfAllMissing = false
	if err := readable(rules); err != nil {
		return target{}, err
	}
	raw, err := rules.Load()
	if err != nil {
		return target{}, unusable(err)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context, Context: clientcmdapi.Context{Namespace: o.Namespace}}
	var from clientcmd.ClientConfig = clientcmd.NewNonInteractiveClientConfig(*raw, o.Context, overrides, rules)
	t := target{context: raw.CurrentContext}
	if o.Context != "" {
		t.context = o.Context
	}
	t.config, err = from.ClientConfig()
	if clientcmd.IsEmptyConfig(err) && o.Context == "" && !named(rules) {
		// From no kubeconfig at all client-go makes a configuration of the pod that this runs in.
		t.context = ""
		from = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{}, overrides)
		t.config, err = from.ClientConfig()
	}
	if err != nil {
		return target{}, t.invalid(err, raw)
	}
	if t.namespace, _, err = from.Namespace(); err != nil {
		return target{}, unusable(err)
	}
	if err := t.behave(o.Version); err != nil {
		return target{}, err
	}
	return t, nil
}

// behave sets what is the same for every cluster.
func (t *target) behave(version string) error {
	server, _, err := rest.DefaultServerURL(t.config.Host, "", schema.GroupVersion{}, true)
	if err != nil {
		return &Error{Message: "the server of the kubeconfig's cluster is no URL", Fix: "write server: https://HOST:PORT", Err: err}
	}
	t.host = server.Host
	t.config.QPS, t.config.Burst = qps, burst
	t.config.UserAgent = "berth/" + version
	t.config.WarningHandlerWithContext = warnings{}
	return nil
}

// named says whether the user said where the kubeconfig is.
func named(rules *clientcmd.ClientConfigLoadingRules) bool {
	return rules.ExplicitPath != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != ""
}

// readable is an error if the kubeconfig can't be read, or if the user named one and there is none.
func readable(rules *clientcmd.ClientConfigLoadingRules) error {
	files, how := rules.Precedence, clientcmd.RecommendedConfigPathEnvVar
	if rules.ExplicitPath != "" {
		files, how = []string{rules.ExplicitPath}, "--kubeconfig"
	}
	there := false
	for _, file := range files {
		_, err := clientcmd.LoadFromFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return unreadable(file, err)
		}
		there = true
	}
	if there || !named(rules) {
		return nil
	}
	return &Error{
		Message: fmt.Sprintf("there is no kubeconfig at %s, which %s names", strings.Join(files, " or "), how),
		Fix:     "name one that exists with --kubeconfig FILE",
		Err:     fs.ErrNotExist,
	}
}

// harmless is what may be shown of a parser's error. The rest may quote the file, which has credentials.
var harmless = regexp.MustCompile(`line \d+|field [\w.]+ of type [\w.]+|illegal base64 data`)

func unreadable(file string, err error) error {
	e := &Error{Message: "the kubeconfig " + file + " can't be read", Fix: "correct the file"}
	var io *fs.PathError
	if errors.As(err, &io) {
		e.Message, e.Err = e.Message+": "+io.Err.Error(), err
	} else if where := harmless.FindString(err.Error()); where != "" {
		e.Message += ": " + where
	}
	return e
}

// invalid says what a kubeconfig lacks.
func (t target) invalid(err error, raw *clientcmdapi.Config) error {
	context, known := raw.Contexts[t.context]
	switch {
	case t.context == "" && len(raw.Contexts) > 0:
		return &Error{Message: "the kubeconfig has no current context", Err: err,
			Fix: "choose one with --context, of those that \"kubectl config get-contexts\" lists"}
	case t.context == "":
		return &Error{Message: "there is no kubeconfig that names a cluster", Err: err,
			Fix: "name one with --kubeconfig FILE or KUBECONFIG"}
	case !known:
		return &Error{Message: fmt.Sprintf("the kubeconfig has no context %q", t.context), Err: err,
			Fix: "choose one with --context, of those that \"kubectl config get-contexts\" lists"}
	case raw.Clusters[context.Cluster] == nil:
		return &Error{Message: fmt.Sprintf("the kubeconfig's context %q is of a cluster %q, which it does not have", t.context, context.Cluster), Err: err,
			Fix: "choose another with --context, of those that \"kubectl config get-contexts\" lists"}
	}
	return unusable(err)
}

// unusable is what client-go has against a kubeconfig that can be read: certificates, ways to log in.
func unusable(err error) error {
	return &Error{Message: "kubeconfig: " + err.Error(), Fix: "type \"kubectl config view\" to see what it has", Err: err}
}
