package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/devplane/internal/agent/scale"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	pair := a.sign(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.cert, a.key = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	return a
}

// sign makes a certificate, writes it as NAME.crt and NAME.key, and returns it.
func (a *authority) sign(t *testing.T, name string, template *x509.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	for suffix, data := range map[string][]byte{".crt": certPEM, ".key": keyPEM} {
		if err := os.WriteFile(filepath.Join(a.dir, name+suffix), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestKubeletEndpoint(t *testing.T) {
	ca := newAuthority(t)
	ca.sign(t, "server", &x509.Certificate{IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}})
	client := func(name string) []tls.Certificate {
		return []tls.Certificate{ca.sign(t, name, &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})}
	}
	n := newTestNode(t, scale.New(0))
	n.a.cfg.ClientCAFile = filepath.Join(ca.dir, "ca.crt")
	n.a.cfg.CertFile, n.a.cfg.KeyFile = filepath.Join(ca.dir, "server.crt"), filepath.Join(ca.dir, "server.key")
	serve, err := n.a.listenKubelet()
	if err != nil {
		t.Fatal(err)
	}
	go serve(t.Context())

	pod := newTestPod("p", "1")
	if err := n.a.pods.GetIndexer().Add(pod); err != nil {
		t.Fatal(err)
	}
	w := newWorker(n, pod)
	w.report(up)
	n.workers[w.uid] = w

	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	apiServer := client(kubeletClient)
	for _, c := range []struct {
		name  string
		certs []tls.Certificate
		path  string
		code  int // 0: no connection
		text  string
	}{
		{"no certificate", nil, "/containerLogs/ns/p/main", 0, ""},
		{"a user's certificate", client("admin"), "/containerLogs/ns/p/main", 403, "only the API server"},
		{"the API server", apiServer, "/containerLogs/ns/p/main", 200, "container main of pod ns/p"},
		{"an unknown pod", apiServer, "/containerLogs/ns/q/main", 404, `pod "q" does not exist`},
		{"an unknown container", apiServer, "/containerLogs/ns/p/x", 404, `container "x" not found in pod "p"`},
		{"a run that was not", apiServer, "/containerLogs/ns/p/main?previous=true", 400, `previous terminated container "main" in pod "p" not found`},
		{"wrong options", apiServer, "/containerLogs/ns/p/main?tailLines=-1", 422, "tailLines"},
		{"another verb", apiServer, "/exec/ns/p/main", 501, "not exec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: c.certs}, DisableKeepAlives: true}}
			resp, err := h.Get(fmt.Sprintf("https://127.0.0.1:%d%s", n.a.endpoint.port, c.path))
			if err != nil {
				if c.code != 0 {
					t.Fatal(err)
				}
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.code || !strings.Contains(string(body), c.text) {
				t.Errorf("got %d %q, want %d %q", resp.StatusCode, body, c.code, c.text)
			}
		})
	}
	n.kill()
	resp := httptest.NewRecorder()
	n.a.kubeletHandler().ServeHTTP(resp, httptest.NewRequest("GET", "/containerLogs/ns/p/main", nil))
	if resp.Code != 503 || !strings.Contains(resp.Body.String(), `node "n-0" is down`) {
		t.Errorf("a node that is down: %d %q", resp.Code, resp.Body)
	}
}

func TestLogOf(t *testing.T) {
	term := func(id string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{ContainerID: id}
	}
	for _, c := range []struct {
		name     string
		s        corev1.ContainerStatus
		previous bool
		want     string // an ID, or an error
	}{
		{"running", corev1.ContainerStatus{ContainerID: "process://2", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, false, "2"},
		{"ended", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: term("process://2")}}, false, "2"},
		{"the run before", corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{Terminated: term("process://1")}}, true, "1"},
		{"no run before", corev1.ContainerStatus{}, true, `previous terminated container "c" in pod "p" not found`},
		{"between runs", corev1.ContainerStatus{
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}, LastTerminationState: corev1.ContainerState{Terminated: term("process://1")},
		}, false, "1"},
		{"lost", corev1.ContainerStatus{State: corev1.ContainerState{Terminated: term("")}}, false, `container "c" in pod "p" is terminated`},
		{"waiting", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}, false, `container "c" in pod "p" is waiting to start: PodInitializing`},
		{"no image", corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}, false, `container "c" in pod "p" is waiting to start: trying and failing to pull image`},
	} {
		c.s.Name = "c"
		got, err := logOf("p", &corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{c.s}}, "c", c.previous)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestControl(t *testing.T) {
	n := newTestNode(t, scale.New(0))
	h := n.a.controlHandler(t.Context())
	ask := func(method, path string) (int, string) {
		resp := httptest.NewRecorder()
		h.ServeHTTP(resp, httptest.NewRequest(method, path, nil))
		return resp.Code, strings.TrimSpace(resp.Body.String())
	}
	for _, step := range []struct {
		method, path string
		code         int
		body         string
	}{
		{"GET", "/nodes", 200, `[{"name":"n-0","kind":"scale","state":"up"}]`},
		{"POST", "/nodes/n-0/kill", 204, ""},
		{"GET", "/nodes", 200, `[{"name":"n-0","kind":"scale","state":"down"}]`},
		{"POST", "/nodes/n-0/kill", 204, ""},
		{"POST", "/nodes/n-9/kill", 404, `no node "n-9"; there are: n-0`},
		{"GET", "/nodes/n-0/kill", 405, "Method Not Allowed"},
	} {
		if code, body := ask(step.method, step.path); code != step.code || body != step.body {
			t.Errorf("%s %s: %d %q, want %d %q", step.method, step.path, code, body, step.code, step.body)
		}
	}
}
