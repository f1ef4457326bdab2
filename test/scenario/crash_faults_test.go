package scenario

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/test/cluster"
)

// amid is something that goes wrong while berth is killed.
type amid struct {
	name  string
	costs bool // attempts
	do    func(*pipeline)
}

// crashAmid kills berth while something else goes wrong at the same time: the run ends well all the same, no attempt has
// two pods, and nothing is left.
func crashAmid(t *testing.T, c *cluster.Cluster, f amid) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	kills := 2
	if os.Getenv("BERTH_SOAK") != "" {
		kills = 20
	}
	p := newPipeline(t, c, strings.ReplaceAll(thirty, "retry: {max: 2, on: [lost]}", "retry: {max: 10, on: [lost], backoff: 1s}"))
	p.state = filepath.Join(t.TempDir(), "state")
	p.killing(chance, kills, func() { f.do(p) })
	p.settled(30, f.costs)
}

// TestCrashAmidOthers has others do to the pods what they may.
func TestCrashAmidOthers(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	for _, f := range []amid{
		{"pods are deleted", true, func(p *pipeline) { p.each(p.remove) }},
		{"pods are evicted", true, func(p *pipeline) { p.each(p.evict) }},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			crashAmid(t, c, f)
		})
	}
}

// faults are what is done to the cluster as a whole.
var faults = []amid{
	{"the API server is killed", false, func(p *pipeline) { p.fault("kill", "apiserver") }},
	{"etcd is compacted", false, func(p *pipeline) { p.fault("compact") }},
	{"a node is killed", true, func(p *pipeline) { p.fault("kill", "node/process-0") }},
	{"pods are preempted", true, func(p *pipeline) { p.preempt() }},
}

func (p *pipeline) fault(args ...string) {
	p.Helper()
	cluster.Eventually(p.TB, "fault "+strings.Join(args, " "), func() bool { // it may be down from the one before
		err := p.c.Fault(args...)
		if err != nil {
			p.Log(err)
		}
		return err == nil
	})
}

// each does something to every pod that there is now, once there are some.
func (p *pipeline) each(do func(*corev1.Pod) error) {
	p.Helper()
	var pods *corev1.PodList
	cluster.Eventually(p.TB, "there are pods", func() (some bool) {
		var err error
		pods, err = p.c.Client.CoreV1().Pods(p.namespace).List(p.Context(), metav1.ListOptions{LabelSelector: "berth.dev/run"})
		return err == nil && len(pods.Items) > 0
	})
	for i := range pods.Items {
		_ = do(&pods.Items[i]) // it may be gone by now
	}
}

func (p *pipeline) remove(pod *corev1.Pod) error {
	return p.c.Client.CoreV1().Pods(p.namespace).Delete(p.Context(), pod.Name, metav1.DeleteOptions{})
}

func (p *pipeline) evict(pod *corev1.Pod) error {
	return p.c.Client.PolicyV1().Evictions(p.namespace).Evict(p.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: p.namespace}})
}

// preempt has a pod of higher priority take what both nodes have.
func (p *pipeline) preempt() {
	p.Helper()
	ctx := p.Context()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "crash-first"}, Value: 1000}
	_, _ = p.c.Client.SchedulingV1().PriorityClasses().Create(ctx, class, metav1.CreateOptions{}) // there may be one
	p.each(func(*corev1.Pod) error { return nil })
	for range 2 {
		now := int64(0)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "first-"}, Spec: corev1.PodSpec{
			PriorityClassName: class.Name, RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &now,
			Containers: []corev1.Container{{Name: "c", Image: "none", Command: []string{"true"},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}}}}}
		pod, err := p.c.Client.CoreV1().Pods(p.namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			p.Fatal(err)
		}
		cluster.Eventually(p.TB, "the pod of higher priority has run", func() bool {
			got, err := p.c.Client.CoreV1().Pods(p.namespace).Get(ctx, pod.Name, metav1.GetOptions{})
			return err == nil && got.Status.Phase == corev1.PodSucceeded
		})
		if err := p.c.Client.CoreV1().Pods(p.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			p.Fatal(err)
		}
	}
}
