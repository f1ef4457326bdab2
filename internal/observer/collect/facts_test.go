package collect

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// world is what is in a cluster: the last version of each object, by resource and name.
type world map[string]map[string]apiruntime.Object

// said is what the facts say, as bytes.
func said(t rapid.TB, f *Facts) string {
	v, _ := f.View(reduce.Options{}, true)
	var b bytes.Buffer
	at := time.Unix(0, 0)
	if err := observer.WriteWorkloads(&b, observer.NewEnvelope(observer.KindWorkloads, f.ClusterID(), at), v.EachRecord()); err != nil {
		t.Fatal(err)
	}
	if err := observer.WriteNodes(&b, observer.NewEnvelope(observer.KindNodes, f.ClusterID(), at), v.EachNode()); err != nil {
		t.Fatal(err)
	}
	c := &observer.Coverage{}
	v.Fill(c)
	if err := observer.WriteCoverage(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func watchOf(resource, namespace string) watched {
	for _, w := range resources {
		if w.Resource == resource {
			w.Namespace = namespace
			return w
		}
	}
	panic(resource)
}

func itemOf(t rapid.TB, resource string, o apiruntime.Object) *item {
	i, err := reducer{kind: watchOf(resource, "").Kind}.item(o)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// list gives facts the whole of a resource, of all namespaces or of one.
func (w world) list(t rapid.TB, f *Facts, resource, namespace string) {
	var items []*item
	for _, name := range slices.Sorted(maps.Keys(w[resource])) {
		if i := itemOf(t, resource, w[resource][name]); namespace == "" || i.Namespace == namespace {
			items = append(items, i)
		}
	}
	f.replace(watchOf(resource, namespace), items)
}

var words = []string{"a", "b"}

func word(t *rapid.T, label string) string { return rapid.SampledFrom(words).Draw(t, label) }

// object makes a version of an object, with a UID that no other life of the name has.
func object(t *rapid.T, resource, namespace, name string, life int) apiruntime.Object {
	m := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("%s-%s-%s-%d", resource, namespace, name, life)),
		CreationTimestamp: metav1.Unix(int64(rapid.IntRange(0, 3).Draw(t, "created")), 0)}
	if rapid.IntRange(0, 9).Draw(t, "opted out") == 9 {
		m.Annotations = map[string]string{reduce.AnnotationObserve: "false"}
	}
	switch resource {
	case "pods":
		p := &corev1.Pod{ObjectMeta: m}
		yes := true
		if rapid.IntRange(0, 3).Draw(t, "bare") > 0 {
			owner := word(t, "owner")
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, Controller: &yes,
				UID: types.UID(fmt.Sprintf("replicasets-%s-%s-%d", namespace, owner, rapid.IntRange(1, 2).Draw(t, "life")))}}
		}
		p.Spec.Containers = []corev1.Container{{Name: word(t, "container"), Image: word(t, "image")}}
		p.Spec.NodeName = word(t, "node")
		p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning}).Draw(t, "phase")
		if rapid.Bool().Draw(t, "constrained") {
			p.Spec.NodeSelector = map[string]string{word(t, "key"): word(t, "value")}
		}
		return p
	case "nodes":
		n := &corev1.Node{ObjectMeta: m}
		n.Namespace = ""
		n.Labels = map[string]string{word(t, "key"): word(t, "value")}
		n.Spec.Unschedulable = rapid.Bool().Draw(t, "cordoned")
		return n
	}
	if resource == "replicasets" && rapid.Bool().Draw(t, "owned") {
		yes := true
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: word(t, "deployment"), Controller: &yes, UID: "d"}}
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: m}
}

// However the facts came about, they are those of a fresh list: after any sequence of events, with lists of
// everything or of one namespace in between, with some changes never told (as when a watch is lost) until the
// next list tells them.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{}
		lives := map[string]int{}
		f := NewFacts()
		blind := map[string]bool{} // resources of which events were lost
		kinds := []string{"pods", "pods", "nodes", "namespaces", "replicasets", "replicasets"}
		for range rapid.IntRange(20, 100).Draw(t, "steps") {
			resource := rapid.SampledFrom(kinds).Draw(t, "resource")
			if w[resource] == nil {
				w[resource] = map[string]apiruntime.Object{}
			}
			namespace, name := word(t, "namespace"), word(t, "name")
			if resource == "nodes" || resource == "namespaces" {
				namespace = ""
			}
			key := resource + "/" + namespace + "/" + name
			old, there := w[resource][key]
			switch step := rapid.SampledFrom([]string{"put", "put", "delete", "lose", "list"}).Draw(t, "step"); step {
			case "put":
				if !there {
					lives[key]++
				}
				o := object(t, resource, namespace, name, lives[key])
				w[resource][key] = o
				if !blind[resource] {
					f.put(itemOf(t, resource, o))
				}
			case "delete":
				if there {
					delete(w[resource], key)
					if !blind[resource] {
						f.drop(itemOf(t, resource, old))
					}
				}
			case "lose":
				blind[resource] = true
			case "list":
				if !blind[resource] && namespace != "" && resource != "namespaces" {
					w.list(t, f, resource, namespace)
				} else {
					w.list(t, f, resource, "")
					blind[resource] = false
				}
			}
		}
		for resource, lost := range blind {
			if lost {
				w.list(t, f, resource, "")
			}
		}
		fresh := NewFacts()
		for resource := range w {
			w.list(t, fresh, resource, "")
		}
		if got, want := said(t, f), said(t, fresh); got != want {
			t.Errorf("after events:\n%s\nfresh:\n%s", got, want)
		}
	})
}

func pod(name string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)}}
	p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	if change != nil {
		change(p)
	}
	return p
}

// The version changes with what can be said, and not with what can't: heartbeats write no payload.
func TestVersion(t *testing.T) {
	f := NewFacts()
	steps := []struct {
		what    string
		do      func()
		changes bool
	}{
		{"a pod", func() { f.put(itemOf(t, "pods", pod("p", nil))) }, true},
		{"the same pod", func() { f.put(itemOf(t, "pods", pod("p", nil))) }, false},
		{"its environment", func() {
			f.put(itemOf(t, "pods", pod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} })))
		}, false},
		{"its phase", func() { f.put(itemOf(t, "pods", pod("p", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))) }, true},
		{"a list of the same", func() {
			f.replace(watchOf("pods", ""), []*item{itemOf(t, "pods", pod("p", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))})
		}, false},
		{"an empty list", func() { f.replace(watchOf("pods", ""), nil) }, true},
		{"a node", func() { f.put(itemOf(t, "nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{UID: "n"}})) }, true},
		{"its heartbeat", func() {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{UID: "n"}}
			n.Status.Images = []corev1.ContainerImage{{SizeBytes: 1}}
			f.put(itemOf(t, "nodes", n))
		}, false},
	}
	for _, s := range steps {
		before := f.Version()
		s.do()
		if changed := f.Version() != before; changed != s.changes {
			t.Errorf("%s: changed %v", s.what, changed)
		}
	}
}

// Equal placements are one in memory, and gone with the last pod that had them.
func TestBlocksAreShared(t *testing.T) {
	f := NewFacts()
	for i := range 100 {
		f.put(itemOf(t, "pods", pod(fmt.Sprint(i), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"k": fmt.Sprint(i % 3)} })))
	}
	distinct := map[any]bool{}
	for _, p := range f.pods {
		distinct[p.Placement] = true
		distinct[p.Containers[0].Template] = true
	}
	if len(distinct) != 3+1 {
		t.Errorf("%d blocks", len(distinct))
	}
	f.replace(watchOf("pods", ""), nil)
	clear(distinct)
	runtime.GC()
	f.placements.sweep()
	f.containers.sweep()
	if n := len(f.placements.known) + len(f.containers.known); n != 0 {
		t.Errorf("%d blocks are left of no pod", n)
	}
}

// A watch that is stopped between two events leaves no goroutine behind.
func TestWatchStops(t *testing.T) {
	from := watch.NewFake()
	w := reducer{kind: "Pod"}.watch(from)
	go func() {
		defer func() { _ = recover() }() // a fake that is stopped panics when it is told of more
		from.Add(pod("p", nil))
		from.Add(pod("q", nil))
	}()
	e := <-w.ResultChan()
	if i, ok := e.Object.(*item); !ok || i.Name != "p" || i.fact.(*reduce.Pod).Name.Value() != "p" {
		t.Errorf("%v", e)
	}
	w.Stop()
	w.Stop()
	for range w.ResultChan() { // ends
	}
}
