package kubeconfig

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
	Program    string // for the user agent; else berth
	Version    string // of the program, likewise
}

// Target is a cluster and how to talk to it.
type Target struct {
	Config    *rest.Config // without limits of its own
	Namespace string       // where objects go whose namespace is not said
	Host      string       // of Config.Host, which may be a URL with more in it than one wants to read
	Context   string       // empty in a pod
}

// Target reads the kubeconfig and says what is wrong with it. It does not talk to the cluster.
func (o Options) Target() (Target, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	rules.MigrationRules = nil // which copy files of Kubernetes 0.x to where they are now
	rules.WarnIfAllMissing = false
	if err := readable(rules); err != nil {
		return Target{}, err
	}
	raw, err := rules.Load()
	if err != nil {
		return Target{}, Unusable(err)
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context, Context: clientcmdapi.Context{Namespace: o.Namespace}}
	var from clientcmd.ClientConfig = clientcmd.NewNonInteractiveClientConfig(*raw, o.Context, overrides, rules)
	t := Target{Context: raw.CurrentContext}
	if o.Context != "" {
		t.Context = o.Context
	}
	t.Config, err = from.ClientConfig()
	if clientcmd.IsEmptyConfig(err) && o.Context == "" && !named(rules) {
		// From no kubeconfig at all client-go makes a configuration of the pod that this runs in.
		t.Context = ""
		from = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{}, overrides)
		t.Config, err = from.ClientConfig()
	}
	if err != nil {
		return Target{}, t.invalid(err, raw)
	}
	if t.Namespace, _, err = from.Namespace(); err != nil {
		return Target{}, Unusable(err)
	}
	if err := t.behave(o.Program, o.Version); err != nil {
		return Target{}, err
	}
	return t, nil
}

// behave sets what is the same for every cluster.
func (t *Target) behave(program, version string) error {
	if program == "" {
		program = "berth"
	}
	server, _, err := rest.DefaultServerURL(t.Config.Host, "", schema.GroupVersion{}, true)
	if err != nil {
		return &Error{Message: "the server of the kubeconfig's cluster is no URL", Fix: "write server: https://HOST:PORT", Err: err}
	}
	t.Host = server.Host
	t.Config.UserAgent = program + "/" + version
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
func (t Target) invalid(err error, raw *clientcmdapi.Config) error {
	context, known := raw.Contexts[t.Context]
	switch {
	case t.Context == "" && len(raw.Contexts) > 0:
		return &Error{Message: "the kubeconfig has no current context", Err: err,
			Fix: "choose one with --context, of those that \"kubectl config get-contexts\" lists"}
	case t.Context == "":
		return &Error{Message: "there is no kubeconfig that names a cluster", Err: err,
			Fix: "name one with --kubeconfig FILE or KUBECONFIG"}
	case !known:
		return &Error{Message: fmt.Sprintf("the kubeconfig has no context %q", t.Context), Err: err,
			Fix: "choose one with --context, of those that \"kubectl config get-contexts\" lists"}
	case raw.Clusters[context.Cluster] == nil:
		return &Error{Message: fmt.Sprintf("the kubeconfig's context %q is of a cluster %q, which it does not have", t.Context, context.Cluster), Err: err,
			Fix: "choose another with --context, of those that \"kubectl config get-contexts\" lists"}
	}
	return Unusable(err)
}

// Unusable is what client-go has against a kubeconfig that can be read: certificates, ways to log in.
func Unusable(err error) error {
	return &Error{Message: "kubeconfig: " + err.Error(), Fix: "type \"kubectl config view\" to see what it has", Err: err}
}
