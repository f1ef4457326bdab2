package kubeclient

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/test/cluster"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const secret = "S3CRET"

// changed gives a kubeconfig for the shared cluster that differs in something, under the context "c".
func changed(t *testing.T, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) string {
	t.Helper()
	raw, err := clientcmd.LoadFromFile(shared.Get(t).Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	current := raw.Contexts[raw.CurrentContext]
	change(raw.Clusters[current.Cluster], raw.AuthInfos[current.AuthInfo])
	raw.Contexts["c"], raw.CurrentContext = current, "c"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*raw, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// What stands between Berth and a cluster is said in a line, and what to do about it in another.
func TestErrors(t *testing.T) {
	t.Parallel()
	host := strings.TrimPrefix(shared.Get(t).Config.Host, "https://")
	free := freePort(t)
	for _, test := range []struct {
		name   string
		change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		want   string
	}{
		{"nobody listens", func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Server = "https://user:" + secret + "@" + free
		},
			"no answer from the cluster at " + free + " (context c): connection refused\n" +
				`Type "kubectl --context c cluster-info" to see whether kubectl gets one, or choose another cluster with --context or --kubeconfig.`},
		{"no such name", func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			c.Server = "https://cluster.invalid/" + secret
		},
			"no answer from the cluster at cluster.invalid (context c): the name cluster.invalid is not known\n" +
				`Type "kubectl --context c cluster-info" to see whether kubectl gets one, or choose another cluster with --context or --kubeconfig.`},
		{"another authority", func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = nil },
			"the cluster at " + host + " (context c) has a certificate that is not trusted: x509: certificate signed by unknown authority\n" +
				"Correct certificate-authority of the kubeconfig's cluster."},
		{"not logged in", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{Token: secret}
		},
			"the cluster at " + host + " (context c) does not accept the kubeconfig's credentials (401 Unauthorized)\n" +
				`Log in again, and type "kubectl --context c auth whoami" to see whether that helped.`},
		{"a plugin that is not there", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			*u = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{Command: "berth-test-no-such-plugin", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never", Args: []string{secret}}}
		},
			"no answer from the cluster at " + host + " (context c): getting credentials: exec: executable berth-test-no-such-plugin not found\n" +
				`Type "kubectl --context c cluster-info" to see whether kubectl gets one, or choose another cluster with --context or --kubeconfig.`},
		{"no right", func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Token: token(t)} },
			"the cluster at " + host + ` (context c): nodes is forbidden: User "system:serviceaccount:default:default" cannot list resource "nodes" in API group "" at the cluster scope` + "\n" +
				"Ask for the right, or ask as someone else with --context."},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k, err := New(Options{Kubeconfig: changed(t, test.change)})
			if err != nil {
				t.Fatal(err)
			}
			_, err = k.Nodes(cluster.Context(t))
			wantError(t, err, test.want)
		})
	}
}

// Who may not create pods learns nothing of a pod; who names no namespace that exists neither.
func TestErrorsOfDryRun(t *testing.T) {
	t.Parallel()
	file := changed(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Token: token(t)} })
	host := strings.TrimPrefix(shared.Get(t).Config.Host, "https://")
	p := pod(t, `{metadata: {name: p}, spec: {containers: [{name: step, image: x}]}}`)
	for _, test := range []struct{ file, want string }{
		{file, `pods is forbidden: User "system:serviceaccount:default:default" cannot create resource "pods" in API group "" in the namespace "nowhere"` + "\n" +
			"Ask for the right, or ask as someone else with --context."},
		{changed(t, func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}), `namespaces "nowhere" not found` + "\n" +
			"Choose a namespace that exists with --namespace."},
	} {
		k, err := New(Options{Kubeconfig: test.file, Namespace: "nowhere"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = k.DryRun(cluster.Context(t), p)
		wantError(t, err, "the cluster at "+host+" (context c): "+test.want)
	}
}

// A cluster that takes the connection and never answers is given up on when the caller does.
func TestErrorInTime(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	file := changed(t, func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://" + l.Addr().String() })
	k, err := New(Options{Kubeconfig: file})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if _, err := l.Accept(); err == nil {
			cancel()
		}
	}()
	if _, err := k.Nodes(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	_, err = k.Nodes(late)
	wantError(t, err, "no answer from the cluster at "+l.Addr().String()+" (context c) in time\n"+
		`Type "kubectl --context c cluster-info" to see whether kubectl gets one, or choose another cluster with --context or --kubeconfig.`)
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%T: %v", err, err)
		return
	}
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("a secret is in it: %s", err)
	}
}

// token is that of a ServiceAccount with no rights.
func token(t *testing.T) string {
	t.Helper()
	answer, err := shared.Get(t).Client.CoreV1().ServiceAccounts("default").CreateToken(cluster.Context(t), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Token
}

// freePort is an address that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
