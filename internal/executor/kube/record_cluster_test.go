package kube

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

var update = flag.Bool("update", false, "record the pods of testdata/pods anew")

// scene is a pod, what is done to it, and when it is looked at.
type scene struct {
	name  string
	kinds []string                                                                     // of nodes
	pod   string                                                                       // its spec
	do    func(ctx context.Context, t *testing.T, c *cluster.Cluster, pod *corev1.Pod) // when the step runs; nil: nothing
	until func(*corev1.Pod) bool                                                       // nil: it has ended, or will never start
	want  string
	or    []string // where kubelets do one thing or the other
}

var both, real, process = []string{"process", "real"}, []string{"real"}, []string{"process"}

// trap exits with 0 when it is told to end.
const trap = `{name: step, command: [sh, -c, "trap 'exit 0' TERM; while true; do sleep 0.1; done"]}`

// situations are the rows of "reading an end", and the ways to wait, as kubelets bring them about.
var situations = []scene{
	{name: "success", kinds: both, pod: `containers: [{name: step, command: [sh, -c, "echo a=1 > /dev/termination-log"]}]`,
		want: "ended success completed exit=0 output started"},
	{name: "exit-code", kinds: both, pod: `containers: [{name: step, command: [sh, -c, "exit 7"]}]`,
		want: "ended failure exit_code exit=7 started"},
	{name: "killed", kinds: both, pod: `containers: [{name: step, command: [sh, -c, "sh -c 'kill -9 $$$$'; exit $?"]}]`,
		want: "ended failure exit_code exit=137 started"},
	{name: "deadline", kinds: both, pod: `
activeDeadlineSeconds: 5
containers: [` + trap + `]`,
		want: "ended timeout deadline_exceeded exit=0 started", or: []string{"ended timeout deadline_exceeded started", "ended timeout deadline_exceeded"}},
	{name: "deadline-unpullable", kinds: both, pod: `
activeDeadlineSeconds: 2
containers: [{name: step, image: "devplane.invalid/unpullable:1", command: [sh]}]`,
		until: over, want: "ended never_started deadline_exceeded"},
	{name: "deleted", kinds: both, pod: `containers: [` + trap + `]`,
		do: remove, until: ended0, want: "ended success completed exit=0 started deletion"},
	{name: "evicted-by-api", kinds: both, pod: `containers: [` + trap + `]`,
		do: evict, until: ended0, want: "ended lost evicted_by_api exit=0 started deletion"},
	// Whether the kubelet says how the container ended is a race. If the container exits with 0 it is another one
	// whether the pod says that it was evicted at all: Kubernetes 1.37 may say no more than Succeeded, which can't
	// be told from success.
	{name: "evicted-for-disk", kinds: real, pod: `
containers: [{name: step, resources: {limits: {ephemeral-storage: 1Mi}}, command: [sh, -c, "dd if=/dev/zero of=/big bs=1M count=20; while true; do sleep 0.1; done"]}]`,
		want: "ended lost evicted exit=137 started", or: []string{"ended lost evicted started", "ended lost evicted"}},
	{name: "oom", kinds: process, pod: `containers: [{name: step, image: "devplane.invalid/oom:1", command: [sh, -c, "sleep 10"]}]`,
		want: "ended oom oom_killed exit=137 started"},
	{name: "oom-child", kinds: real, pod: `
containers: [{name: step, resources: {limits: {memory: 24Mi}}, command: [sh, -c, "sh -c 'tail /dev/zero'; exit 0"]}]`,
		want: "ended oom oom_killed exit=0 started"},
	{name: "start-error", kinds: both, pod: `containers: [{name: step, command: [/does/not/exist]}]`,
		want: "ended failure start_error"},
	{name: "no-room", kinds: both, pod: `containers: [{name: step, resources: {requests: {cpu: "1000"}}, command: [sh]}]`,
		want: "ended never_started kubelet_refused"},
	{name: "init-failed", kinds: both, pod: `
initContainers: [{name: first, command: [sh, -c, "exit 3"]}]
containers: [{name: step, command: [sh]}]`,
		want: "ended never_started init_failed"},
	{name: "sidecar-outlives", kinds: both, pod: `
containers: [{name: step, command: [sh, -c, "exit 0"]}, {name: mesh, command: [sleep, "600"]}]`,
		want: "ended success completed exit=0 started"},
	{name: "running", kinds: both, pod: `containers: [` + trap + `]`,
		until: runs, want: "running started"},
	{name: "unpullable", kinds: both, pod: `containers: [{name: step, image: "devplane.invalid/unpullable:1", command: [sh]}]`,
		until: waitsFor("ErrImagePull", "ImagePullBackOff"), want: "waiting image_pull clock=image"},
	{name: "invalid-image", kinds: real, pod: `containers: [{name: step, image: "UPPER:1", command: [sh]}]`,
		want: "ended never_started image_invalid final"},
	{name: "no-secret", kinds: real, pod: `
containers: [{name: step, command: [sh], env: [{name: A, valueFrom: {secretKeyRef: {name: none, key: a}}}]}]`,
		until: waitsFor("CreateContainerConfigError"), want: "waiting container_config clock=config"},
	{name: "no-volume", kinds: real, pod: `
volumes: [{name: v, secret: {secretName: none}}]
containers: [{name: step, command: [sh], volumeMounts: [{name: v, mountPath: /v}]}]`,
		until: func(p *corev1.Pod) bool {
			c := condition(p, corev1.PodReadyToStartContainers)
			return c != nil && len(p.Status.ContainerStatuses) > 0
		}, want: "waiting volumes clock=image"},
	{name: "service-not-ready", kinds: both, pod: `
initContainers: [{name: db, restartPolicy: Always, command: [sleep, "600"], startupProbe: {exec: {command: ["false"]}, failureThreshold: 1000}}]
containers: [{name: step, command: [sh]}]`,
		until: func(p *corev1.Pod) bool {
			return len(p.Status.InitContainerStatuses) > 0 && p.Status.InitContainerStatuses[0].State.Running != nil
		}, want: "waiting initializing clock="},
}

func over(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}
func ended0(p *corev1.Pod) bool {
	s := stepStatus(p)
	return s != nil && s.State.Terminated != nil
}
func runs(p *corev1.Pod) bool {
	s := stepStatus(p)
	return s != nil && s.State.Running != nil
}

func waitsFor(reasons ...string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		s := stepStatus(p)
		for _, r := range reasons {
			if s != nil && s.State.Waiting != nil && s.State.Waiting.Reason == r {
				return true
			}
		}
		return false
	}
}

func remove(ctx context.Context, t *testing.T, c *cluster.Cluster, pod *corev1.Pod) {
	if err := c.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func evict(ctx context.Context, t *testing.T, c *cluster.Cluster, pod *corev1.Pod) {
	if err := c.Client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}}); err != nil {
		t.Error(err)
	}
}

// What a kubelet does today is read as what was recorded of it.
func TestSituations(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	namespace := c.Namespace(t)
	for _, s := range situations {
		for _, kind := range s.kinds {
			t.Run(s.name+" "+kind, func(t *testing.T) {
				if kind == "real" && !cluster.CanReal() {
					t.Skip("real nodes need root on Linux")
				}
				t.Parallel()
				pod := s.bring(t, c, namespace, kind)
				if got := summary(Read(pod)); got != s.want && !slices.Contains(s.or, got) {
					text, _ := json.Marshal([]any{pod.Status.Reason, pod.Status.ContainerStatuses})
					t.Errorf("%s, want %s\n%s", got, s.want, text)
				}
				if *update {
					record(t, s.name+"."+kind, pod)
				}
			})
		}
	}
}

// bring brings the situation about. The pod goes to its node without a scheduler, since some have no room
// there: only a test does that.
func (s scene) bring(t *testing.T, c *cluster.Cluster, namespace, kind string) *corev1.Pod {
	t.Helper()
	ctx := cluster.Context(t)
	var spec map[string]any
	if err := yaml.Unmarshal([]byte("restartPolicy: Never\nterminationGracePeriodSeconds: 5\n"+s.pod), &spec); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"generateName": s.name + "-"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(data, pod); err != nil {
		t.Fatal(err)
	}
	pod.Spec.NodeName = kind + "-0"
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Image == "" {
			c.Image = "devplane/busybox:1"
		}
	}
	for i := range pod.Spec.InitContainers {
		pod.Spec.InitContainers[i].Image = "devplane/busybox:1"
	}
	pods := c.Client.CoreV1().Pods(namespace)
	if pod, err = pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + pod.Name, ResourceVersion: pod.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	did := s.do == nil
	until := s.until
	if until == nil {
		until = func(p *corev1.Pod) bool { return Read(p).Phase == run.PhaseEnded }
	}
	for e := range w.ResultChan() {
		p, ok := e.Object.(*corev1.Pod)
		if !ok {
			t.Fatalf("%v", e.Object)
		}
		pod = p
		if !did && runs(pod) {
			did = true
			s.do(ctx, t, c, pod)
			continue
		}
		if did && until(pod) {
			return pod
		}
		if e.Type == watch.Deleted {
			break
		}
	}
	t.Fatalf("it never came to that: %+v", pod.Status)
	return nil
}

func record(t *testing.T, name string, pod *corev1.Pod) {
	trim(pod)
	pod.Namespace, pod.UID, pod.ResourceVersion, pod.Annotations = "", "", "", nil
	data, err := json.MarshalIndent(pod, "", "  ")
	if err == nil {
		err = os.MkdirAll("testdata/pods", 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("testdata/pods", name+".json"), append(data, '\n'), 0o666)
	}
	if err != nil {
		t.Error(err)
	}
}
