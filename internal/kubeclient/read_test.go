package kubeclient

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/test/cluster"
)

func reader(t *testing.T, change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) *Reader {
	t.Helper()
	k, err := New(Options{Kubeconfig: changed(t, change)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.Reader()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every resource that can be asked for is there, or is said not to be.
func TestReaderHasAll(t *testing.T) {
	t.Parallel()
	r := reader(t, func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {})
	for name := range resources {
		if err := r.Each(cluster.Context(t), name, "", func(runtime.Object) {}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range custom {
		if err := r.Each(cluster.Context(t), name, "", func(runtime.Object) {}); !IsAbsent(err) {
			t.Errorf("%s, which the cluster does not have: %v", name, err)
		}
	}
	if err := r.Each(cluster.Context(t), "secrets", "", func(runtime.Object) {}); err == nil || !strings.Contains(err.Error(), "no resource secrets") {
		t.Errorf("secrets: %v", err)
	}
}

// More objects than a page has come all, each once, and only those of the namespace.
func TestReaderPages(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	namespace := c.Namespace(t)
	const pods = page + 7
	for i := range pods {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p-%d", i)}, Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}}, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		if _, err := c.Client.CoreV1().Pods(namespace).Create(cluster.Context(t), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	err := reader(t, func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}).Each(cluster.Context(t), "pods", namespace, func(o runtime.Object) {
		p := o.(*corev1.Pod)
		seen[p.Namespace+"/"+p.Name]++
	})
	if err != nil || len(seen) != pods {
		t.Errorf("%d pods, want %d: %v", len(seen), pods, err)
	}
	for name, n := range seen {
		if n != 1 || !strings.HasPrefix(name, namespace+"/") {
			t.Errorf("%s: %d times", name, n)
		}
	}
}

// Who may not is told apart from what is not there.
func TestReaderForbidden(t *testing.T) {
	t.Parallel()
	r := reader(t, func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{Token: token(t)} })
	for _, name := range []string{"nodes", "pods", "nodepools"} {
		if err := r.Each(cluster.Context(t), name, "", func(runtime.Object) {}); !IsForbidden(err) || IsAbsent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if IsForbidden(nil) || IsAbsent(nil) {
		t.Error("no error is none")
	}
}
