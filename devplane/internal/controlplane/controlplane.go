// Package controlplane says how etcd, the API server, the scheduler and the controller manager
// are run, makes the identities they know each other by, and tells when they are ready.
//
// Every connection is TLS on 127.0.0.1 with client certificates. etcd has an authority of its
// own. Authorisation is Node and RBAC; nothing is anonymous; the audit log has every request.
package controlplane

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/pki"
	"github.com/berthdev/berth/devplane/internal/proc"
	"github.com/berthdev/berth/devplane/internal/supervise"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Names of the parts, as commands of the devplane binary and in `devplane status`.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	Scheduler         = "kube-scheduler"
	ControllerManager = "kube-controller-manager"
)

// KubeletClient is the user as which the API server calls kubelets.
const KubeletClient = "kube-apiserver-kubelet-client"

// Config is what a control plane is made from.
type Config struct {
	Instance *instance.Instance
	// Self is the devplane binary, which is every part.
	Self string
	// FeatureGates is passed to every Kubernetes part as --feature-gates, if not empty.
	FeatureGates string
	// NodeGrace is how long a node may be silent before it counts as lost.
	NodeGrace time.Duration
}

// Plane is a control plane whose files are written.
type Plane struct {
	Config
	// CA signs what Kubernetes trusts.
	CA *pki.Authority

	apiserver, kubeletClient, etcdServer, etcdClient pki.Pair
	etcdCA                                           *pki.Authority
	tokenKey, tokenPub, auditPolicy                  string
	schedulerConfig, managerConfig                   string
}

// Prepare writes certificates, kubeconfigs and the audit policy into the instance's folder.
func Prepare(cfg Config) (*Plane, error) {
	p := &Plane{Config: cfg}
	dir := cfg.Instance.Path("pki")
	w := &writer{}
	p.CA = try(w, func() (*pki.Authority, error) { return pki.New(dir, "ca") })
	p.etcdCA = try(w, func() (*pki.Authority, error) { return pki.New(dir, "etcd-ca") })
	local := []string{"127.0.0.1", "localhost"}
	p.apiserver = try(w, func() (pki.Pair, error) {
		// 10.0.0.1 is the service "kubernetes", the first address of the service range.
		return p.CA.Issue("apiserver", pki.Subject{Name: APIServer, Hosts: append(local, "10.0.0.1", "kubernetes.default.svc")})
	})
	p.kubeletClient = try(w, func() (pki.Pair, error) {
		return p.CA.Issue("kubelet-client", pki.Subject{Name: KubeletClient})
	})
	p.etcdServer = try(w, func() (pki.Pair, error) {
		return p.etcdCA.Issue("etcd", pki.Subject{Name: Etcd, Hosts: local})
	})
	p.etcdClient = try(w, func() (pki.Pair, error) {
		return p.etcdCA.Issue("etcd-client", pki.Subject{Name: APIServer})
	})
	p.schedulerConfig = try(w, func() (string, error) { return p.Identity("scheduler", "system:kube-scheduler") })
	p.managerConfig = try(w, func() (string, error) {
		return p.Identity("controller-manager", "system:kube-controller-manager")
	})
	if w.err != nil {
		return nil, w.err
	}
	var err error
	if p.tokenKey, p.tokenPub, err = pki.SigningKey(dir, "serviceaccounts"); err != nil {
		return nil, err
	}
	p.auditPolicy = cfg.Instance.Path("audit-policy.yaml")
	if err := os.WriteFile(p.auditPolicy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return p, p.identity(cfg.Instance.Kubeconfig(), "admin", "devplane-admin", "system:masters")
}

// The body of a pod's creation is kept, so that a test can compare what was sent with what was
// meant. Secrets' bodies never are.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create]
  resources: [{group: "", resources: [pods]}]
- level: Metadata
`

// writer lets a sequence of steps stop at the first error.
type writer struct{ err error }

func try[T any](w *writer, f func() (T, error)) (v T) {
	if w.err != nil {
		return v
	}
	v, w.err = f()
	return v
}

// Identity writes a kubeconfig, pki/NAME.kubeconfig, for a user in groups, and returns its path.
func (p *Plane) Identity(name, user string, groups ...string) (string, error) {
	path := p.Instance.Path("pki", name+".kubeconfig")
	return path, p.identity(path, name, user, groups...)
}

func (p *Plane) identity(path, name, user string, groups ...string) error {
	pair, err := p.CA.Issue(name, pki.Subject{Name: user, Groups: groups})
	if err != nil {
		return err
	}
	c := clientcmdapi.NewConfig()
	cluster, context := "devplane-"+p.Instance.ID, "devplane"
	c.Clusters[cluster] = &clientcmdapi.Cluster{Server: p.URL()}
	u := &clientcmdapi.AuthInfo{}
	// Embedded, so that the file can be copied elsewhere.
	if c.Clusters[cluster].CertificateAuthorityData, err = os.ReadFile(p.CA.File()); err != nil {
		return err
	}
	if u.ClientCertificateData, err = os.ReadFile(pair.Cert); err != nil {
		return err
	}
	if u.ClientKeyData, err = os.ReadFile(pair.Key); err != nil {
		return err
	}
	c.AuthInfos[user] = u
	c.Contexts[context] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: user}
	c.CurrentContext = context
	return clientcmd.WriteToFile(*c, path)
}

// URL is the API server's.
func (p *Plane) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", p.Instance.APIServer()) }

// Part makes the spec of a part that is a command of the devplane binary. Its environment is
// what it needs and no more: a proxy setting of the caller must not reach it.
func (p *Plane) Part(name string, args ...string) supervise.Spec {
	return supervise.Spec{
		Name: name, Log: p.Instance.Path("logs", name+".log"), Grace: 10 * time.Second,
		Proc: proc.Spec{Path: p.Self, Args: append([]string{"part", name}, args...), Env: Environment(p.Instance)},
	}
}

// Environment is what every process of an instance is started with.
func Environment(in *instance.Instance) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.Dir, "TMPDIR=" + os.TempDir(), in.Env()}
}

// Etcd is the spec of etcd.
func (p *Plane) etcd() supervise.Spec {
	client, peer := p.EtcdURL(), fmt.Sprintf("https://127.0.0.1:%d", p.Instance.EtcdPeer())
	return p.Part(Etcd,
		"--data-dir="+p.Instance.Path("etcd"), "--name=devplane",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=devplane="+peer,
		"--cert-file="+p.etcdServer.Cert, "--key-file="+p.etcdServer.Key,
		"--trusted-ca-file="+p.etcdCA.File(), "--client-cert-auth",
		"--peer-cert-file="+p.etcdServer.Cert, "--peer-key-file="+p.etcdServer.Key,
		"--peer-trusted-ca-file="+p.etcdCA.File(), "--peer-client-cert-auth",
		// The data lives no longer than the devplane: a power cut may take it.
		"--unsafe-no-fsync", "--log-level=warn",
	)
}

// EtcdURL is where etcd answers its clients.
func (p *Plane) EtcdURL() string { return fmt.Sprintf("https://127.0.0.1:%d", p.Instance.Etcd()) }

// AuditLog is the API server's audit log: a JSON event per line.
func AuditLog(in *instance.Instance) string { return in.Path("logs", "audit.log") }

func (p *Plane) apiServer() supervise.Spec {
	return p.Part(APIServer, p.gates(
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.Instance.APIServer()),
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--cert-dir="+p.Instance.Path("pki"),
		"--tls-cert-file="+p.apiserver.Cert, "--tls-private-key-file="+p.apiserver.Key,
		"--client-ca-file="+p.CA.File(), "--anonymous-auth=false",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--etcd-servers="+p.EtcdURL(), "--etcd-cafile="+p.etcdCA.File(),
		"--etcd-certfile="+p.etcdClient.Cert, "--etcd-keyfile="+p.etcdClient.Key,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+p.tokenPub, "--service-account-signing-key-file="+p.tokenKey,
		"--kubelet-certificate-authority="+p.CA.File(),
		"--kubelet-client-certificate="+p.kubeletClient.Cert, "--kubelet-client-key="+p.kubeletClient.Key,
		"--kubelet-preferred-address-types=InternalIP",
		"--audit-policy-file="+p.auditPolicy, "--audit-log-path="+AuditLog(p.Instance),
		// By default the log is rotated at 100 MB, and a reader would lose the older part.
		"--audit-log-maxsize=4096",
		"--allow-privileged=true", "--profiling=false",
	)...)
}

// The clients' default limits (50/s for the scheduler, 20/s for the controller manager) would
// decide every throughput figure taken on a devplane.
func (p *Plane) scheduler() supervise.Spec {
	return p.Part(Scheduler, p.gates("--kubeconfig="+p.schedulerConfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=2000", "--kube-api-burst=4000")...)
}

func (p *Plane) controllerManager() supervise.Spec {
	return p.Part(ControllerManager, p.gates("--kubeconfig="+p.managerConfig, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		"--service-account-private-key-file="+p.tokenKey, "--root-ca-file="+p.CA.File(),
		"--use-service-account-credentials=true",
		"--node-monitor-period=1s", "--node-monitor-grace-period="+p.NodeGrace.String(),
	)...)
}

func (p *Plane) gates(args ...string) []string {
	if p.FeatureGates == "" {
		return args
	}
	return append(args, "--feature-gates="+p.FeatureGates)
}

// Parts are the four parts in the order in which they start; they stop in the opposite order,
// each waited for, since an API server whose etcd is gone hangs and keeps its port.
func (p *Plane) Parts() []supervise.Spec {
	return []supervise.Spec{p.etcd(), p.apiServer(), p.scheduler(), p.controllerManager()}
}

// ParseGates checks the form NAME=true,NAME=false; whether a gate exists is for the parts to say.
func ParseGates(s string) error {
	if s == "" {
		return nil
	}
	for _, g := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(g, "=")
		if !ok || name == "" || (value != "true" && value != "false") {
			return fmt.Errorf("feature gate %q: write NAME=true or NAME=false, separated by commas", g)
		}
	}
	return nil
}
