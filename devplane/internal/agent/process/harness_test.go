package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// shim is the path of the real shim, built for this run of the tests.
var shim string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shim")
	if err != nil {
		panic(err)
	}
	shim = filepath.Join(dir, "shim")
	build := exec.Command("go", "build", "-o", shim, "github.com/berthdev/berth/devplane/shim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the shim: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// patience is how long a test waits for what is bound to happen. No test is quicker or slower for
// it unless it fails.
const patience = 20 * time.Second

// objects are what pods may refer to, by kind/name.
type objects struct {
	mu  sync.Mutex
	all map[string]any
}

func (o *objects) put(key string, object any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[key] = object
}

func get[T any](o *objects, resource, name string) (*T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object, ok := o.all[resource+"/"+name].(*T); ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: resource}, name)
}

func (o *objects) Secret(_ context.Context, _, name string) (*corev1.Secret, error) {
	return get[corev1.Secret](o, "secret", name)
}

func (o *objects) ConfigMap(_ context.Context, _, name string) (*corev1.ConfigMap, error) {
	return get[corev1.ConfigMap](o, "configmap", name)
}

func (o *objects) Claim(_ context.Context, _, name string) (*corev1.PersistentVolumeClaim, error) {
	return get[corev1.PersistentVolumeClaim](o, "persistentvolumeclaims", name)
}

func (o *objects) Volume(_ context.Context, name string) (*corev1.PersistentVolume, error) {
	return get[corev1.PersistentVolume](o, "persistentvolumes", name)
}

func (o *objects) Token(_ context.Context, namespace, sa string, req *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	req.Status.Token = "token of " + namespace + "/" + sa + " for " + string(req.Spec.BoundObjectRef.UID)
	return req, nil
}

// trial is one pod that a test runs.
type trial struct {
	t       *testing.T
	r       *Runtime
	pod     *corev1.Pod
	ctl     *podruntime.Control
	objects *objects
	power   context.CancelFunc
	done    chan struct{}

	mu     sync.Mutex
	cond   *sync.Cond
	states podruntime.States
	seen   []podruntime.States
	events []string
}

// try runs a pod on a node of its own. When the test is over, so is the pod.
func try(t *testing.T, pod *corev1.Pod, with ...func(*trial)) *trial {
	t.Helper()
	x := &trial{t: t, pod: pod, objects: &objects{all: map[string]any{}}, done: make(chan struct{})}
	x.cond = sync.NewCond(&x.mu)
	x.r = New(Config{Dir: t.TempDir(), Shim: shim, Address: "127.0.0.1", Server: "127.0.0.1:6443", Cluster: x.objects})
	for _, f := range with {
		f(x)
	}
	if refused := x.r.Refuse(pod); len(refused) > 0 {
		t.Fatalf("refused: %q", refused)
	}
	x.ctl = podruntime.NewControl(x.report, x.event)
	ctx, cancel := context.WithCancel(context.Background())
	x.power = cancel
	go func() {
		defer close(x.done)
		x.r.Run(ctx, pod, x.ctl)
		x.cond.Broadcast()
	}()
	t.Cleanup(func() { cancel(); <-x.done })
	return x
}

func (x *trial) report(s podruntime.States) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.states = s
	x.seen = append(x.seen, s)
	x.cond.Broadcast()
}

func (x *trial) event(c *corev1.Container, _, reason, message string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	name := "pod"
	if c != nil {
		name = c.Name
	}
	x.events = append(x.events, name+": "+reason+": "+message)
	x.cond.Broadcast()
}

// await waits until a condition holds, and fails the test if it never does.
func (x *trial) await(what string, holds func() bool) {
	x.t.Helper()
	late := time.AfterFunc(patience, x.cond.Broadcast)
	defer late.Stop()
	deadline := time.Now().Add(patience)
	x.mu.Lock()
	defer x.mu.Unlock()
	for !holds() {
		if !time.Now().Before(deadline) {
			x.t.Fatalf("still not: %s\nstates: %s\nevents: %q", what, brief(x.states), x.events)
		}
		x.cond.Wait()
	}
}

// awaitState waits for a state of a container.
func (x *trial) awaitState(name, what string, holds func(corev1.ContainerStatus) bool) {
	x.t.Helper()
	x.await(name+" "+what, func() bool { return holds(status(x.states, name)) })
}

func (x *trial) awaitRunning(name string) {
	x.t.Helper()
	x.awaitState(name, "running", func(s corev1.ContainerStatus) bool { return s.State.Running != nil })
}

// awaitLog waits for a text in a container's log, by following it.
func (x *trial) awaitLog(name, text string) {
	x.t.Helper()
	x.awaitRunning(name)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var log syncBuffer
	found := make(chan struct{})
	log.on(text, func() { close(found) })
	go x.r.Logs(ctx, x.pod, name, x.id(name), &corev1.PodLogOptions{Follow: true}, &log, &log)
	select {
	case <-found:
	case <-ctx.Done():
		x.t.Fatalf("still not in the log of %s: %q; there is %q", name, text, log.String())
	}
}

// end waits for the end of the pod and returns how a container ended.
func (x *trial) end(name string) *corev1.ContainerStateTerminated {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(patience):
		x.t.Fatalf("the pod has not ended; states: %s, events: %q", brief(x.states), x.events)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	term := status(x.states, name).State.Terminated
	if term == nil {
		x.t.Fatalf("%s has not ended: %s", name, brief(x.states))
	}
	return term
}

// expect fails the test unless a container ended with this exit code and reason.
func (x *trial) expect(name string, code int32, reason string) *corev1.ContainerStateTerminated {
	x.t.Helper()
	term := x.end(name)
	if term.ExitCode != code || term.Reason != reason {
		x.t.Errorf("%s ended with %d %s %q, want %d %s; log: %s", name, term.ExitCode, term.Reason, term.Message, code, reason, x.log(name))
	}
	return term
}

func (x *trial) id(name string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.TrimPrefix(status(x.states, name).ContainerID, "process://")
}

// log is a container's whole log.
func (x *trial) log(name string) string {
	x.t.Helper()
	var b bytes.Buffer
	if err := x.r.Logs(context.Background(), x.pod, name, x.id(name), &corev1.PodLogOptions{}, &b, &b); err != nil {
		return "no log: " + err.Error()
	}
	return b.String()
}

func (x *trial) hasEvent(part string) func() bool {
	return func() bool {
		for _, e := range x.events {
			if strings.Contains(e, part) {
				return true
			}
		}
		return false
	}
}

func status(s podruntime.States, name string) corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{s.InitContainers, s.Containers} {
		for _, c := range list {
			if c.Name == name {
				return c
			}
		}
	}
	return corev1.ContainerStatus{}
}

func brief(s podruntime.States) string {
	var b strings.Builder
	for _, list := range [][]corev1.ContainerStatus{s.InitContainers, s.Containers} {
		for _, c := range list {
			fmt.Fprintf(&b, "%s: started=%t ready=%t restarts=%d ", c.Name, ptr.Deref(c.Started, false), c.Ready, c.RestartCount)
			switch {
			case c.State.Running != nil:
				b.WriteString("running; ")
			case c.State.Terminated != nil:
				fmt.Fprintf(&b, "terminated %d %s %q; ", c.State.Terminated.ExitCode, c.State.Terminated.Reason, c.State.Terminated.Message)
			case c.State.Waiting != nil:
				fmt.Fprintf(&b, "waiting %s %q; ", c.State.Waiting.Reason, c.State.Waiting.Message)
			default:
				b.WriteString("waiting; ")
			}
		}
	}
	return b.String()
}

// syncBuffer is a buffer that tells when a text has arrived.
type syncBuffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	text string
	tell func()
}

func (s *syncBuffer) on(text string, tell func()) { s.text, s.tell = text, tell }

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	if s.tell != nil && strings.Contains(s.b.String(), s.text) {
		s.tell()
		s.tell = nil
	}
	return len(p), nil
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// newPod is a pod that is not restarted, of these containers.
func newPod(containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", UID: types.UID(newID()[:16]), Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			NodeName: "node", ServiceAccountName: "default", RestartPolicy: corev1.RestartPolicyNever,
			TerminationGracePeriodSeconds: ptr.To(int64(30)), Containers: containers,
		},
	}
}

// sh is a container that runs a script.
func sh(name, script string, with ...func(*corev1.Container)) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "busybox", Command: []string{"sh", "-c", script},
		TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}
	for _, f := range with {
		f(&c)
	}
	return c
}

// sidecar makes a native sidecar of a container.
func sidecar(c corev1.Container) corev1.Container {
	c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return c
}

func mounted(name, path string) func(*corev1.Container) {
	return func(c *corev1.Container) {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
	}
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}
