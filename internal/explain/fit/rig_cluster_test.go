package fit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/test/cluster"
)

const barrierNode = "barrier-0"

// rig asks the real scheduler. It makes nodes that nobody runs pods on.
type rig struct {
	kubernetes.Interface
	t       testing.TB
	barrier *corev1.Node
	turn    int
	undo    []func() // in the reverse order
}

// turns is held by the test that has the cluster: there is one scheduler, and nodes are everybody's.
var turns sync.Mutex

func newRig(t testing.TB) *rig {
	t.Helper()
	c := shared.Get(t)
	turns.Lock()
	t.Cleanup(turns.Unlock)
	config := rest.CopyConfig(c.Config)
	config.WarningHandler = rest.NoWarnings{} // of a null labelSelector, which is the point
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Interface: client, t: t}
	cluster.Eventually(t, "the barrier node is ready", func() bool {
		n, err := r.CoreV1().Nodes().Get(context.Background(), barrierNode, metav1.GetOptions{})
		r.barrier = n
		return err == nil && len(n.Spec.Taints) == 1
	})
	return r
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// reset takes away all that was made since.
func (r *rig) reset() {
	r.t.Helper()
	for i := len(r.undo) - 1; i >= 0; i-- {
		r.undo[i]()
	}
	r.undo = nil
}

var ctx = context.Background()

// namespace makes a namespace that stays, with these labels.
func (r *rig) namespace(name string, labels map[string]string) *corev1.Namespace {
	r.t.Helper()
	all := r.CoreV1().Namespaces()
	n, err := all.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		n, err = all.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
		r.check(err)
		cluster.Eventually(r.t, "an account in "+name, func() bool {
			_, err := r.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
			return err == nil
		})
		return n
	}
	r.check(err)
	n.Labels = map[string]string{corev1.LabelMetadataName: name}
	for k, v := range labels {
		n.Labels[k] = v
	}
	n, err = all.Update(ctx, n, metav1.UpdateOptions{})
	r.check(err)
	return n
}

// node makes a node that is as healthy as can be.
func (r *rig) node(n *corev1.Node) *corev1.Node {
	r.t.Helper()
	n = n.DeepCopy()
	now := metav1.Now()
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Test", LastHeartbeatTime: now, LastTransitionTime: now}}
	n.Status.Capacity = n.Status.Allocatable
	nodes := r.CoreV1().Nodes()
	taints := n.Spec.Taints
	if n.Spec.Unschedulable && !slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) {
		taints = append(slices.Clone(taints), cordonTaint) // as the node controller does
	}
	made, err := nodes.Create(ctx, n, metav1.CreateOptions{})
	r.check(err)
	r.undo = append(r.undo, func() { r.check(nodes.Delete(ctx, n.Name, metav1.DeleteOptions{})) })
	return r.taint(made.Name, taints)
}

// taint sets a node's taints, once the node controller has taken away the one that each new node gets.
func (r *rig) taint(name string, taints []corev1.Taint) *corev1.Node {
	r.t.Helper()
	var n *corev1.Node
	cluster.Eventually(r.t, "node "+name+" has its taints", func() bool {
		var err error
		n, err = r.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		r.check(err)
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
			return false
		}
		if slices.EqualFunc(n.Spec.Taints, taints, func(a, b corev1.Taint) bool { return a.MatchTaint(&b) && a.Value == b.Value }) {
			return true
		}
		n.Spec.Taints = taints
		n, err = r.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{})
		return err == nil
	})
	return n
}

// place makes a pod that is on a node already. It is refused with the API server's words if it is invalid.
func (r *rig) place(p *corev1.Pod) (*corev1.Pod, error) {
	p = p.DeepCopy()
	deleted := p.DeletionTimestamp != nil
	p.DeletionTimestamp = nil
	if deleted {
		p.Finalizers = []string{"berth.dev/test"}
	}
	made, err := r.create(p)
	if err != nil {
		return nil, err
	}
	if deleted {
		r.check(r.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, now))
		made, err = r.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
		r.check(err)
	}
	return made, nil
}

func (r *rig) create(p *corev1.Pod) (*corev1.Pod, error) {
	p = p.DeepCopy()
	no := false
	p.Spec.AutomountServiceAccountToken = &no
	p.Status = corev1.PodStatus{}
	return r.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
}

var now = metav1.DeleteOptions{GracePeriodSeconds: new(int64)}

// remove takes a pod away at once.
func (r *rig) remove(p *corev1.Pod) {
	r.t.Helper()
	pods := r.CoreV1().Pods(p.Namespace)
	if len(p.Finalizers) > 0 {
		_, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		r.check(err)
	}
	if err := pods.Delete(ctx, p.Name, now); !apierrors.IsNotFound(err) {
		r.check(err)
	}
}

// settle returns when the scheduler knows of all nodes as they are: it has placed a pod that can only be on
// a node which was changed last. Of pods it learns in the order in which they were made.
func (r *rig) settle() {
	r.t.Helper()
	r.turn++
	turn := fmt.Sprint(r.turn)
	n, err := r.CoreV1().Nodes().Patch(ctx, barrierNode, types.MergePatchType, []byte(`{"metadata":{"labels":{"turn":"`+turn+`"}}}`), metav1.PatchOptions{})
	r.check(err)
	r.barrier = n
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "barrier-" + turn, Namespace: "barrier"}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"turn": turn}, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{Name: "main", Image: "image"}}}}
	made, err := r.create(pod)
	r.check(err)
	r.answer(made, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	r.remove(made)
}

// answer waits until a pod is as wanted.
func (r *rig) answer(p *corev1.Pod, wanted func(*corev1.Pod) bool) *corev1.Pod {
	r.t.Helper()
	limit, cancel := context.WithTimeout(ctx, cluster.Limit)
	defer cancel()
	w, err := r.CoreV1().Pods(p.Namespace).Watch(limit, metav1.ListOptions{FieldSelector: "metadata.name=" + p.Name, ResourceVersion: p.ResourceVersion})
	r.check(err)
	defer w.Stop()
	if wanted(p) {
		return p
	}
	for e := range w.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok && e.Type == watch.Modified && wanted(p) {
			return p
		}
	}
	r.t.Fatalf("the scheduler has no answer to %s/%s", p.Namespace, p.Name)
	return nil
}

// answer is a pod that has asked, and what the scheduler said of it.
type answer struct {
	pod     *corev1.Pod
	node    string // that it landed on
	message string // "" if it has landed

	written  *corev1.Pod // as it was before the API server added to it
	verdicts []Verdict   // ours
}

// ask lets the scheduler decide. The pod stays, wherever it is.
func (r *rig) ask(p *corev1.Pod) (answer, error) {
	r.t.Helper()
	made, err := r.create(p)
	if err != nil {
		return answer{}, err
	}
	decided := r.answer(made, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" || refusal(p) != nil })
	a := answer{pod: decided, node: decided.Spec.NodeName}
	if c := refusal(decided); c != nil && a.node == "" {
		a.message = c.Message
		if c.Reason != corev1.PodReasonUnschedulable && c.Reason != corev1.PodReasonSchedulingGated {
			r.t.Fatalf("the scheduler failed: %s: %s", c.Reason, c.Message)
		}
	}
	return a, nil
}

func refusal(p *corev1.Pod) *corev1.PodCondition {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c
		}
	}
	return nil
}
