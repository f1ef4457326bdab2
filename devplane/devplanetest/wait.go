package devplanetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// Until watches one object (any object, if name is empty) until done says so, and returns it as it
// was then. done is given nil when a named object does not exist, or is deleted.
func Until[T runtime.Object](ctx context.Context, c cache.Getter, resource, namespace, name string, done func(T) bool) (T, error) {
	var last T
	selector := fields.Everything()
	if name != "" {
		selector = fields.OneTermEqualSelector("metadata.name", name)
	}
	lw := cache.NewListWatchFromClient(c, resource, namespace, selector)
	var zero T
	missing := func(store cache.Store) (bool, error) {
		return name != "" && len(store.List()) == 0 && done(zero), nil
	}
	_, err := watchtools.UntilWithSync(ctx, lw, newOf(zero), missing, func(e watch.Event) (bool, error) {
		obj, ok := e.Object.(T)
		if !ok {
			return false, fmt.Errorf("watch: %v", e.Object)
		}
		if e.Type == watch.Deleted {
			return done(zero), nil
		}
		last = obj
		return done(obj), nil
	})
	if err != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return last, err
}

// newOf returns an empty object of T's type, for the reflector.
func newOf[T runtime.Object](T) runtime.Object {
	switch any(*new(T)).(type) {
	case *corev1.Pod:
		return &corev1.Pod{}
	case *corev1.Node:
		return &corev1.Node{}
	case *corev1.ServiceAccount:
		return &corev1.ServiceAccount{}
	case *corev1.PersistentVolumeClaim:
		return &corev1.PersistentVolumeClaim{}
	case *corev1.PersistentVolume:
		return &corev1.PersistentVolume{}
	}
	panic(fmt.Sprintf("devplanetest.Until: add %T", *new(T)))
}

// Pod watches a pod until done; nil means deleted. It fails the test with the pod's last status
// if that never comes.
func (c *Cluster) Pod(t testing.TB, namespace, name string, done func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	pod, err := Until(Context(t), c.Client.CoreV1().RESTClient(), "pods", namespace, name, done)
	if err != nil {
		t.Fatalf("pod %s/%s: %v\nlast status: %s", namespace, name, err, Describe(pod))
	}
	return pod
}

// Ended is true of a pod in phase Succeeded or Failed.
func Ended(p *corev1.Pod) bool {
	return p != nil && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed)
}

// Waiting is true of a pod one of whose containers waits with the reason.
func Waiting(reason string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		if p == nil {
			return false
		}
		for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
			if s.State.Waiting != nil && s.State.Waiting.Reason == reason {
				return true
			}
		}
		return false
	}
}

// Condition returns a pod's condition, an empty one if it has none of the type.
func Condition(p *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	if p != nil {
		for _, c := range p.Status.Conditions {
			if c.Type == kind {
				return c
			}
		}
	}
	return corev1.PodCondition{}
}

// Describe prints what a failed test needs of a pod.
func Describe(p *corev1.Pod) string {
	if p == nil {
		return "none seen"
	}
	s := fmt.Sprintf("phase %s, reason %q, message %q, node %q", p.Status.Phase, p.Status.Reason, p.Status.Message, p.Spec.NodeName)
	for _, c := range p.Status.Conditions {
		s += fmt.Sprintf("\n  condition %s=%s %s %s", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, c := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		s += fmt.Sprintf("\n  container %s: %s", c.Name, c.State.String())
	}
	return s
}

func (c *Cluster) waitServiceAccount(ctx context.Context, t testing.TB, namespace string) {
	t.Helper()
	_, err := Until(ctx, c.Client.CoreV1().RESTClient(), "serviceaccounts", namespace, "default",
		func(sa *corev1.ServiceAccount) bool { return sa != nil })
	if err != nil {
		t.Fatal(err)
	}
}

// Create creates a pod.
func (c *Cluster) Create(t testing.TB, namespace string, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	created, err := c.Client.CoreV1().Pods(namespace).Create(Context(t), pod, metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// DeletePod deletes a pod and follows it until it is gone. It returns the last version there was;
// each, if not nil, is shown every version that has a deletionTimestamp. The watch is there before
// the deletion, so that a quick end is not missed.
func (c *Cluster) DeletePod(t testing.TB, namespace, name string, opts metav1.DeleteOptions, each func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	asked := false
	return c.Pod(t, namespace, name, func(p *corev1.Pod) bool {
		if !asked {
			asked = true
			if err := c.Client.CoreV1().Pods(namespace).Delete(Context(t), name, opts); err != nil {
				t.Errorf("delete pod %s: %v", name, err)
			}
		}
		if p != nil && p.DeletionTimestamp != nil && each != nil {
			each(p)
		}
		return p == nil
	})
}

// Logs reads a container's log through the API server.
func (c *Cluster) Logs(t testing.TB, namespace, pod string, opts corev1.PodLogOptions) string {
	t.Helper()
	data, err := c.Client.CoreV1().Pods(namespace).GetLogs(pod, &opts).DoRaw(Context(t))
	if err != nil {
		t.Fatalf("log of %s: %v", pod, err)
	}
	return string(data)
}

// Eventually asks again and again until true, for what can't be watched: files, processes.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx := Context(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: never (%v)", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
