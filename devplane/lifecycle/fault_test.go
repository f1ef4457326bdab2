//go:build linux

package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
	"github.com/berthdev/berth/devplane/internal/agent"
	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/berthdev/berth/devplane/internal/supervise"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

var one = resource.MustParse("1Gi")

// sleeper is a pod that runs until it is ended, on a kind of node. It leaves a lost node after a
// second.
func sleeper(name, kind, mark string) *corev1.Pod {
	second, zero := int64(1), int64(0)
	unreachable := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &second}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &zero,
			NodeSelector: map[string]string{"devplane.berth.dev/kind": kind},
			Tolerations:  []corev1.Toleration{unreachable("node.kubernetes.io/unreachable"), unreachable("node.kubernetes.io/not-ready")},
			Containers:   []corev1.Container{{Name: "step", Image: "devplane/busybox:1", Command: []string{"sleep", mark}}},
		},
	}
}

// TestFaults breaks one cluster in one way after the other.
func TestFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := devplanetest.Start(dir, `
version: 1
pools:
- {name: real, kind: real}
- {name: process, kind: process}
- {name: scale, kind: scale, count: 100, run_for: 100ms, capacity: {pods: "10"}}
`, "--node-grace", "8s")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, f := range []struct {
		name string
		test func(*testing.T, *devplanetest.Cluster)
	}{
		{"300 scale pods", scalePods},
		{"API server killed", apiServerKilled},
		{"compacted", compacted},
		{"API server paused", apiServerPaused},
		{"scheduler held down", schedulerDown},
		{"a part that dies by itself", crash},
		{"process node killed", func(t *testing.T, c *devplanetest.Cluster) { nodeKilled(t, c, "process") }},
		{"real node killed", func(t *testing.T, c *devplanetest.Cluster) {
			devplanetest.NeedReal(t)
			nodeKilled(t, c, "real")
		}},
		{"overtaken", overtaken},
		{"names", names},
	} {
		t.Run(f.name, func(t *testing.T) { f.test(t, c) })
	}
}

func fault(t *testing.T, c *devplanetest.Cluster, args ...string) {
	t.Helper()
	if _, err := c.Devplane(append([]string{"fault"}, args...)...); err != nil {
		t.Fatal(err)
	}
}

func scalePods(t *testing.T, c *devplanetest.Cluster) {
	ns := c.Namespace(t)
	ctx := devplanetest.Context(t)
	const n = 300
	for range n {
		pod := sleeper("", "scale", "1")
		pod.GenerateName = "scale-"
		if _, err := c.Client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	done := map[string]bool{}
	nodes := map[string]bool{}
	_, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "pods", ns, "", func(p *corev1.Pod) bool {
		if p != nil && p.Status.Phase == corev1.PodSucceeded {
			done[p.Name], nodes[p.Spec.NodeName] = true, true
		}
		return len(done) == n
	})
	if err != nil {
		t.Fatalf("%d of %d pods succeeded: %v", len(done), n, err)
	}
	if len(nodes) < 20 {
		t.Errorf("the pods were on %d nodes only", len(nodes))
	}
	for name := range done {
		if log := c.Logs(t, ns, name, corev1.PodLogOptions{}); !strings.Contains(log, name) {
			t.Errorf("log of %s: %q", name, log)
		}
		break
	}
}

// A watch that was open when the API server died goes on with what came since.
func apiServerKilled(t *testing.T, c *devplanetest.Cluster) {
	ns, ctx := c.Namespace(t), devplanetest.Context(t)
	before, after := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "pods", ns, "", func(p *corev1.Pod) bool {
			if first {
				first = false
				close(before)
			}
			return p != nil && p.Name == "after"
		})
		after <- err
	}()
	create := func(name string) {
		t.Helper()
		pod := sleeper(name, "nowhere", "1")
		devplanetest.Eventually(t, "create "+name, func() bool {
			_, err := c.Client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{})
			return err == nil || apierrors.IsAlreadyExists(err)
		})
	}
	create("before")
	select {
	case <-before: // the watch is open
	case err := <-after:
		t.Fatal(err)
	}
	was := part(t, c, "kube-apiserver")
	fault(t, c, "kill", "apiserver")
	if is := part(t, c, "kube-apiserver"); is.Pid == was.Pid || is.State != supervise.Running {
		t.Errorf("before %+v, after %+v", was, is)
	}
	create("after")
	if err := <-after; err != nil {
		t.Errorf("the watch has not seen what came after: %v", err)
	}
}

// Both a watch and a paged list from before the compaction are told that they are too old.
func compacted(t *testing.T, c *devplanetest.Cluster) {
	ns, ctx := c.Namespace(t), devplanetest.Context(t)
	maps := c.Client.CoreV1().ConfigMaps(ns)
	old, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || page.Continue == "" {
		t.Fatalf("no page: %v", err)
	}
	if err := maps.Delete(ctx, "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fault(t, c, "compact")
	if _, err := maps.List(ctx, metav1.ListOptions{Limit: 1, Continue: page.Continue}); !apierrors.IsResourceExpired(err) {
		t.Errorf("list from before the compaction: %v; want 410", err)
	}
	w, err := maps.Watch(ctx, metav1.ListOptions{ResourceVersion: old.ResourceVersion})
	if err == nil {
		defer w.Stop()
		e := <-w.ResultChan()
		if e.Type == watch.Error {
			err = apierrors.FromObject(e.Object)
		}
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("watch from before the compaction: %v; want 410", err)
	}
}

func apiServerPaused(t *testing.T, c *devplanetest.Cluster) {
	fault(t, c, "pause", "apiserver", "--hold")
	if s := part(t, c, "kube-apiserver"); s.State != supervise.Paused {
		t.Errorf("state %s; want paused", s.State)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", part(t, c, "kube-apiserver").Pid)); err != nil || !strings.Contains(string(stat), ") T ") {
		t.Errorf("the process is not stopped: %s, %v", stat, err)
	}
	// A request hangs.
	ctx, cancel := context.WithTimeout(devplanetest.Context(t), 500*time.Millisecond)
	defer cancel()
	if err := c.Client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Error(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused API server: %v; want no answer", err)
	}
	fault(t, c, "resume", "apiserver")
	if _, err := c.Client.Discovery().ServerVersion(); err != nil {
		t.Error(err)
	}
}

func schedulerDown(t *testing.T, c *devplanetest.Cluster) {
	ns := c.Namespace(t)
	fault(t, c, "kill", "scheduler", "--hold")
	if s := part(t, c, "kube-scheduler"); s.State != supervise.Down {
		t.Errorf("state %s; want down", s.State)
	}
	c.Create(t, ns, sleeper("pod", "process", "1000"))
	fault(t, c, "start", "scheduler")
	c.Pod(t, ns, "pod", func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
}

// A part that ends without being asked to is started again, and status says so.
func crash(t *testing.T, c *devplanetest.Cluster) {
	was := part(t, c, "kube-controller-manager")
	if err := syscall.Kill(was.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	devplanetest.Eventually(t, "the part is back", func() bool {
		is := part(t, c, was.Name)
		return is.State == supervise.Running && is.Pid != was.Pid && is.Restarts == was.Restarts+1
	})
	if said := c.Said(); !strings.Contains(said, "kube-controller-manager ended (signal: killed); starting it again") {
		t.Errorf("devplane said nothing of it:\n%s", said)
	}
}

// A dead node's pods are not ready, then are given up; when it comes back they are found ended.
func nodeKilled(t *testing.T, c *devplanetest.Cluster, kind string) {
	ns, ctx := c.Namespace(t), devplanetest.Context(t)
	stays := sleeper("stays", kind, "1000")
	hour := int64(3600)
	for i := range stays.Spec.Tolerations {
		stays.Spec.Tolerations[i].TolerationSeconds = &hour
	}
	c.Create(t, ns, stays)
	c.Create(t, ns, sleeper("leaves", kind, "1000"))
	running := func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning }
	node := c.Pod(t, ns, "stays", running).Spec.NodeName
	c.Pod(t, ns, "leaves", running)

	scale0, err := c.Client.CoreV1().Nodes().Get(ctx, "scale-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	boot := scale0.Status.NodeInfo.BootID
	fault(t, c, "kill", "node/"+node, "--hold")
	ready := func(want corev1.ConditionStatus) {
		t.Helper()
		_, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "nodes", "", node, func(n *corev1.Node) bool {
			for _, cond := range n.Status.Conditions {
				if cond.Type == corev1.NodeReady {
					return cond.Status == want
				}
			}
			return false
		})
		if err != nil {
			t.Fatalf("node %s is not Ready=%s: %v", node, want, err)
		}
	}
	ready(corev1.ConditionUnknown)
	c.Pod(t, ns, "stays", func(p *corev1.Pod) bool {
		return devplanetest.Condition(p, corev1.PodReady).Status == corev1.ConditionFalse
	})
	lost := c.Pod(t, ns, "leaves", func(p *corev1.Pod) bool { return p != nil && p.DeletionTimestamp != nil })
	if r := devplanetest.Condition(lost, corev1.DisruptionTarget).Reason; r != "DeletionByTaintManager" {
		t.Errorf("DisruptionTarget for %q; want DeletionByTaintManager", r)
	}
	if lost.Status.Phase != corev1.PodRunning {
		t.Errorf("phase %s: nobody can know that the pod of a dead node has ended", lost.Status.Phase)
	}
	if kind == "process" {
		// What stands for the node ends and comes back; the node has no power all the same.
		fault(t, c, "kill", "nodes")
		_, err := devplanetest.Until(ctx, c.Client.CoreV1().RESTClient(), "nodes", "", "scale-0", func(n *corev1.Node) bool {
			return n != nil && n.Status.NodeInfo.BootID != boot && agent.Healthy(n)
		})
		if err != nil {
			t.Fatalf("the other nodes are not back: %v", err)
		}
	}

	ready(corev1.ConditionUnknown)
	fault(t, c, "start", "node/"+node)
	ready(corev1.ConditionTrue)
	c.Pod(t, ns, "leaves", func(p *corev1.Pod) bool { return p == nil })
	ended := c.Pod(t, ns, "stays", devplanetest.Ended)
	if ended.Status.Phase != corev1.PodFailed {
		t.Errorf("after the node came back: %s", devplanetest.Describe(ended))
	}
	// The node works again.
	c.Create(t, ns, sleeper("new", kind, "1000"))
	c.Pod(t, ns, "new", running)
}

// Unknown names are answered with the known ones.
func names(t *testing.T, c *devplanetest.Cluster) {
	for _, f := range []struct {
		args []string
		want string
	}{
		{[]string{"kill", "api-server"}, "kube-apiserver"},
		{[]string{"kill", "node/nope-0"}, "node/process-0"},
		{[]string{"pause", "node/process-0", "--hold"}, "pause the part nodes"},
		{[]string{"pause", "etcd"}, "--for 10s"},
		{[]string{"pause", "etcd", "--for", "-5s"}, "negative"},
		{[]string{"kill", "etcd", "--for", "5s", "--hold"}, "exclude"},
	} {
		code, stderr := run(t, append(append([]string{"fault"}, f.args...), "--dir", c.Dir)...)
		if code != 2 || !strings.Contains(stderr, f.want) {
			t.Errorf("fault %v: exit code %d, %s; want 2 and %q", f.args, code, stderr, f.want)
		}
	}
}

// A fault that a later one has overtaken does not undo it.
func overtaken(t *testing.T, c *devplanetest.Cluster) {
	fault(t, c, "kill", "scheduler", "--for", "1s")
	fault(t, c, "start", "scheduler")
	fault(t, c, "kill", "scheduler", "--hold")
	fault(t, c, "kill", "controller-manager", "--for", "1500ms") // outlasts the first
	devplanetest.Eventually(t, "the controller manager is back", func() bool {
		return part(t, c, "kube-controller-manager").State == supervise.Running
	})
	if s := part(t, c, "kube-scheduler"); s.State != supervise.Down {
		t.Errorf("the scheduler is %s; want down", s.State)
	}
	fault(t, c, "start", "scheduler")
}

func part(t *testing.T, c *devplanetest.Cluster, name string) supervise.Status {
	t.Helper()
	out, err := c.Devplane("status", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var s plane.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Parts {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no part %s in %s", name, out)
	return supervise.Status{}
}
