package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Limit bounds every wait of a test. It is no expectation, but how long until a wait that will never end
// is reported.
const Limit = time.Minute

// Context ends with the test, or at Limit.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeoutCause(context.Background(), Limit, fmt.Errorf("waited for %s", Limit))
	t.Cleanup(cancel)
	return ctx
}

// Namespace makes a namespace for a test, in which pods can be created, and deletes it after the test.
func (c *Cluster) Namespace(t testing.TB) string {
	t.Helper()
	ctx := Context(t)
	template := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "berth-test-"}}
	ns, err := c.Client.CoreV1().Namespaces().Create(ctx, template, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.deleteNamespace(t, ns.Name) })
	if err := c.waitForAccount(ctx, ns.Name); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// waitForAccount waits for the ServiceAccount that the controller manager makes: without it every pod
// is refused.
func (c *Cluster) waitForAccount(ctx context.Context, namespace string) error {
	// A watch from no resource version begins with what is there.
	accounts, err := c.Client.CoreV1().ServiceAccounts(namespace).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		return err
	}
	defer accounts.Stop()
	for e := range accounts.ResultChan() {
		if e.Type == watch.Added {
			return nil
		}
	}
	return fmt.Errorf("namespace %s got no ServiceAccount default: %v", namespace, context.Cause(ctx))
}

func (c *Cluster) deleteNamespace(t testing.TB, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), Limit)
	defer cancel()
	now := int64(0)
	// Pods first and at once: the deletion of a namespace waits out their grace periods.
	err := c.Client.CoreV1().Pods(name).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{})
	if err == nil {
		err = c.Client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
	}
	if err != nil {
		t.Errorf("delete namespace %s: %v", name, err)
	}
}
