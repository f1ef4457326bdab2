package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/util/flushwriter"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	apiscorev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/validation"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/utils/ptr"
)

// kubeletClient is the common name of the one who may call: the API server.
const kubeletClient = "kube-apiserver-kubelet-client"

// listenKubelet opens the kubelet endpoint of all nodes on a free port, and returns what serves it.
func (a *agent) listenKubelet() (func(context.Context) error, error) {
	pem, err := os.ReadFile(a.cfg.ClientCAFile)
	if err != nil {
		return nil, err
	}
	clients := x509.NewCertPool()
	if !clients.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", a.cfg.ClientCAFile)
	}
	if _, err := tls.LoadX509KeyPair(a.cfg.CertFile, a.cfg.KeyFile); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(a.cfg.Address, "0"))
	if err != nil {
		return nil, err
	}
	a.endpoint = endpoint{address: a.cfg.Address, port: int32(listener.Addr().(*net.TCPAddr).Port)}
	server := &http.Server{
		Handler:           onlyAPIServer(a.kubeletHandler()),
		ReadHeaderTimeout: 5 * time.Second,
		TLSConfig:         &tls.Config{ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
	}
	return func(ctx context.Context) error {
		return serveUntil(ctx, server, listener, a.cfg.CertFile, a.cfg.KeyFile)
	}, nil
}

// onlyAPIServer refuses all callers but the API server: other holders of certificates of the same
// CA are users, and may not read logs past its authorization.
func onlyAPIServer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || r.TLS.PeerCertificates[0].Subject.CommonName != kubeletClient {
			http.Error(w, "only the API server may call this endpoint", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func (a *agent) kubeletHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", a.containerLogs)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		verb, _, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
		http.Error(w, fmt.Sprintf("a virtual node of devplane serves containerLogs and nothing else, so not %s; use a node of kind real", verb), http.StatusNotImplemented)
	})
	return mux
}

// containerLogs serves a container's log as the kubelet does.
func (a *agent) containerLogs(w http.ResponseWriter, r *http.Request) {
	query, opts := r.URL.Query(), &corev1.PodLogOptions{}
	if err := apiscorev1.Convert_url_Values_To_v1_PodLogOptions(&query, opts, nil); err != nil {
		http.Error(w, "unable to decode query: "+err.Error(), http.StatusBadRequest)
		return
	}
	opts.TypeMeta = metav1.TypeMeta{}
	opts.Stream = ptr.To(ptr.Deref(opts.Stream, corev1.LogStreamAll))
	if errs := validation.ValidatePodLogOptions(opts); len(errs) > 0 {
		http.Error(w, errs.ToAggregate().Error(), http.StatusUnprocessableEntity)
		return
	}
	namespace, name, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	pod, n := a.find(namespace, name)
	switch {
	case pod == nil:
		http.Error(w, fmt.Sprintf("pod %q does not exist", name), http.StatusNotFound)
		return
	case kubecontainer.GetContainerSpec(pod, container) == nil:
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", container, name), http.StatusNotFound)
		return
	}
	worker := n.worker(pod.UID)
	if worker == nil {
		http.Error(w, fmt.Sprintf("node %q is down", n.spec.Name), http.StatusServiceUnavailable)
		return
	}
	status := worker.currentStatus()
	id, err := logOf(name, &status, container, opts.Previous)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := flushwriter.Wrap(w)
	stdout, stderr := streams(out, *opts.Stream)
	if opts.Follow {
		// The headers have to be out before the first line comes.
		out.Write(nil)
	}
	if err := worker.runtime.Logs(r.Context(), pod, container, id, opts, stdout, stderr); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func streams(out io.Writer, stream string) (stdout, stderr io.Writer) {
	switch stream {
	case corev1.LogStreamStdout:
		return out, nil
	case corev1.LogStreamStderr:
		return nil, out
	}
	return out, out
}

// find is a pod of one of the nodes.
func (a *agent) find(namespace, name string) (*corev1.Pod, *node) {
	o, ok, err := a.pods.GetIndexer().GetByKey(namespace + "/" + name)
	if err != nil || !ok {
		return nil, nil
	}
	pod := o.(*corev1.Pod)
	n := a.nodes[pod.Spec.NodeName]
	if n == nil {
		return nil, nil
	}
	return pod, n
}

// logOf says which run of a container has the log that is asked for: the run before, or the newest
// one that has a log. Errors are the kubelet's.
func logOf(pod string, status *corev1.PodStatus, container string, previous bool) (string, error) {
	s, found := podutil.GetContainerStatus(status.ContainerStatuses, container)
	if !found {
		s, found = podutil.GetContainerStatus(status.InitContainerStatuses, container)
	}
	if !found {
		return "", fmt.Errorf("container %q in pod %q is not available", container, pod)
	}
	last := ""
	if t := s.LastTerminationState.Terminated; t != nil {
		last = t.ContainerID
	}
	id, problem := "", ""
	switch {
	case previous:
		id = last
		if id == "" {
			return "", fmt.Errorf("previous terminated container %q in pod %q not found", container, pod)
		}
	case s.State.Running != nil:
		id = s.ContainerID
	case s.State.Terminated != nil && s.State.Terminated.ContainerID != "":
		id = s.State.Terminated.ContainerID
	case s.State.Terminated != nil, s.LastTerminationState.Terminated != nil:
		id, problem = last, "is terminated"
	case s.State.Waiting != nil:
		problem = waitingProblem(s.State.Waiting.Reason)
	default:
		problem = "is waiting to start - no logs yet"
	}
	if id == "" {
		return "", fmt.Errorf("container %q in pod %q %s", container, pod, problem)
	}
	_, id, _ = strings.Cut(id, "://")
	return id, nil
}

func waitingProblem(reason string) string {
	switch reason {
	case "ErrImagePull":
		return "is waiting to start: image can't be pulled"
	case "ImagePullBackOff":
		return "is waiting to start: trying and failing to pull image"
	}
	return "is waiting to start: " + reason
}
