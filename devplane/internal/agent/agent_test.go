package agent

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
	"github.com/berthdev/berth/devplane/internal/agent/process"
	"github.com/berthdev/berth/devplane/internal/agent/scale"
	"github.com/berthdev/berth/devplane/internal/nodefile"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// newTestNode is a node that is up, with no API server: what needs one is tested by the conformance
// suite.
func newTestNode(t *testing.T, runtime podruntime.Runtime) *node {
	t.Helper()
	spec := nodefile.Node{
		Name: "n-0", Pool: "n", Kind: nodefile.Scale, Labels: map[string]string{"kubernetes.io/arch": "arm64"},
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("3")},
	}
	a := &agent{
		cfg: Config{Address: "127.0.0.1", Dir: t.TempDir()}, ready: make(chan struct{}), nodes: map[string]*node{}, order: []string{spec.Name}, now: func() time.Time { return noon },
		pods: cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, cache.Indexers{}),
	}
	close(a.ready)
	n := newNode(a, spec, &record.FakeRecorder{})
	n.up, n.workers, n.runtime, n.ctx, n.cancel = true, map[types.UID]*worker{}, runtime, t.Context(), func() {}
	n.object = nodeObject(spec, endpoint{"127.0.0.1", 1}, "boot", noon)
	n.live = func(context.Context) (*corev1.Node, error) {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kubernetes.io/arch": "arm64", "given": "later"}}}, nil
	}
	a.nodes[spec.Name] = n
	return n
}

// newTestPod is a pod on that node that wants this much CPU.
func newTestPod(name, cpu string, with ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: "1"},
		Spec: corev1.PodSpec{
			NodeName: "n-0", RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To(int64(30)),
			Containers: []corev1.Container{{Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
			}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, f := range with {
		f(pod)
	}
	return pod
}

func deleted(pod *corev1.Pod) {
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(noon)), ptr.To(int64(5))
}

func wasRunning(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

func TestPlan(t *testing.T) {
	bare := process.New(process.Config{Dir: t.TempDir()})
	for _, c := range []struct {
		name    string
		runtime podruntime.Runtime
		pod     *corev1.Pod
		run     bool
		ended   bool
		reason  string
	}{
		{name: "fits", pod: newTestPod("p", "1"), run: true},
		{name: "no CPU is left", pod: newTestPod("p", "1500m"), reason: "OutOfcpu"},
		{name: "another architecture", pod: newTestPod("p", "1", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "amd64"}
		}), reason: "NodeAffinity"},
		{name: "the pretended architecture", pod: newTestPod("p", "1", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "arm64"}
		}), run: true},
		{name: "a label that the node was given later", pod: newTestPod("p", "1", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"given": "later"}
		}), run: true},
		{name: "what the runtime can't do", runtime: bare, pod: newTestPod("p", "1"), reason: NotSupported},
		{name: "already terminal", pod: newTestPod("p", "1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), ended: true},
		{name: "deleted before it was seen", pod: newTestPod("p", "1", deleted), ended: true},
		{name: "lost, not restarted", pod: newTestPod("p", "1", wasRunning), ended: true},
		{name: "lost, restarted", pod: newTestPod("p", "1", wasRunning, func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways }), run: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.runtime == nil {
				c.runtime = scale.New(0)
			}
			n := newTestNode(t, c.runtime)
			other := newWorker(n, newTestPod("other", "1"))
			other.plan = plan{run: other.first}
			n.workers[other.uid] = other
			got := n.planFor(c.pod)
			reason := ""
			if got.rejection != nil {
				reason = got.rejection.Reason
			}
			if (got.run != nil) != c.run || got.ended != c.ended || reason != c.reason {
				t.Errorf("run=%t ended=%t rejection=%+v, want %t %t %q", got.run != nil, got.ended, got.rejection, c.run, c.ended, c.reason)
			}
			// A pod that has ended takes nothing any more.
			other.ended = true
			if c.reason == "OutOfcpu" && n.planFor(c.pod).run == nil {
				t.Error("an ended pod still takes CPU")
			}
		})
	}
	n := newTestNode(t, scale.New(0))
	for _, name := range []string{"a", "b", "c"} {
		w := newWorker(n, newTestPod(name, "0"))
		w.plan = plan{run: w.first}
		n.workers[w.uid] = w
	}
	if got := n.planFor(newTestPod("p", "0")); got.rejection == nil || got.rejection.Reason != "OutOfpods" {
		t.Errorf("the fourth of three pods: %+v", got)
	}
}

// up is what a runtime reports of a pod that runs.
var up = podruntime.States{Sandbox: true, Containers: []corev1.ContainerStatus{{
	Name: "main", Ready: true, Started: ptr.To(true), ContainerID: "process://1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
}}}

func TestWorkerTellsTheAPI(t *testing.T) {
	n := newTestNode(t, scale.New(0))
	w := newWorker(n, newTestPod("p", "1"))
	w.plan = plan{run: w.first}
	apply := func(what string, last bool) {
		t.Helper()
		r := w.nextSending()
		if r == nil || r.patch == nil || r.last != last {
			t.Fatalf("%s: %+v", what, r)
		}
		pod := w.pod.DeepCopy()
		pod.Status, pod.ResourceVersion = w.status(), pod.ResourceVersion+"0"
		w.settle(sending{pod: pod, last: r.last})
		if r := w.nextSending(); r != nil && r.patch != nil {
			t.Fatalf("%s: said again: %s", what, r.patch)
		}
	}
	if r := w.nextSending(); r != nil {
		t.Fatalf("there is nothing to say yet: %+v", r)
	}
	w.report(up)
	apply("it runs", false)

	old := w.pod.DeepCopy()
	old.ResourceVersion = "1"
	old.Status = corev1.PodStatus{}
	w.observe(old)
	if w.pod.Status.Phase != corev1.PodRunning {
		t.Error("an older version replaced a newer one")
	}

	gone := w.pod.DeepCopy()
	deleted(gone)
	gone.ResourceVersion += "0"
	w.observe(gone)
	if w.steer(); w.ctl.Grace() <= 0 || w.ctl.Grace() > 5*time.Second {
		t.Errorf("%v to end, want 5s", w.ctl.Grace())
	}
	if r := w.nextSending(); r != nil {
		t.Fatalf("it still runs, but %+v", r)
	}
	w.ended = true
	w.states.Containers = []corev1.ContainerStatus{{Name: "main", ContainerID: "process://1", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 143}}}}
	apply("it has ended", true)
	if r := w.nextSending(); r == nil || r.patch != nil {
		t.Fatalf("want the deletion, got %+v", r)
	}
	w.settle(sending{gone: true})
	if r := w.nextSending(); r != nil {
		t.Fatalf("the pod is gone, but %+v", r)
	}
	if w.steer() {
		t.Error("it is over before the watch says so")
	}
	w.vanish()
	if !w.steer() {
		t.Error("it is not over")
	}
}

func TestWorkerStopsWhatIsGone(t *testing.T) {
	n := newTestNode(t, scale.New(0))
	for _, c := range []struct {
		name string
		do   func(*worker)
	}{
		{"from the API", func(w *worker) { w.vanish() }},
		{"terminal by another's hand", func(w *worker) {
			pod := w.pod.DeepCopy()
			pod.Status.Phase, pod.ResourceVersion = corev1.PodFailed, "2"
			w.observe(pod)
		}},
		{"over its deadline", func(w *worker) { w.expire() }},
	} {
		w := newWorker(n, newTestPod("p", "1"))
		w.report(up)
		w.steer()
		select {
		case <-w.ctl.Stopping():
			t.Fatal("it is stopped without a reason")
		default:
		}
		c.do(w)
		w.steer()
		select {
		case <-w.ctl.Stopping():
		default:
			t.Errorf("%s: it is not stopped", c.name)
		}
		w.ctl.Release()
	}
}

func TestDeadline(t *testing.T) {
	n := newTestNode(t, scale.New(0))
	w := newWorker(n, newTestPod("p", "1"))
	if !w.deadline().IsZero() {
		t.Error("a deadline without one")
	}
	w.pod.Spec.ActiveDeadlineSeconds = ptr.To(int64(60))
	if got := w.deadline(); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("got %v", got)
	}
	w.pod.Status.StartTime = &metav1.Time{Time: noon.Add(-time.Minute)}
	if got := w.deadline(); !got.Equal(noon) {
		t.Errorf("with a start time: %v", got)
	}
}

// A pod whose node loses power is dead when kill returns.
func TestKillWaitsForTheDead(t *testing.T) {
	n := newTestNode(t, scale.New(time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	n.ctx, n.cancel = ctx, cancel
	w := newWorker(n, newTestPod("p", "1"))
	w.plan = plan{run: w.first}
	w.quiet = true
	n.workers[w.uid] = w
	n.running.Go(func() { w.run(ctx); n.forget(w) })
	n.kill()
	if !w.ended || len(n.workers) != 0 || n.isUp() {
		t.Errorf("ended=%t, %d workers, up=%t", w.ended, len(n.workers), n.isUp())
	}
	n.kill() // again is no harm
}
