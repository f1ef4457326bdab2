package collect

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/observer/reduce"
)

// item is what becomes of an object before the reflector sees it: what a reflector needs to know, and the
// fact.
type item struct {
	metav1.ObjectMeta
	fact any // *reduce.Pod, *reduce.Node, *reduce.Object; nil in a bookmark
}

func (*item) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject shares the fact, which never changes.
func (i *item) DeepCopyObject() runtime.Object {
	return &item{*i.ObjectMeta.DeepCopy(), i.fact}
}

// itemList is a page of a list.
type itemList struct {
	metav1.ListMeta
	Items []runtime.Object
}

func (*itemList) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

func (l *itemList) DeepCopyObject() runtime.Object {
	c := &itemList{ListMeta: *l.ListMeta.DeepCopy()}
	for _, i := range l.Items {
		c.Items = append(c.Items, i.DeepCopyObject())
	}
	return c
}

// reducer makes facts of the objects of one watch.
type reducer struct {
	kind   string
	bounds reduce.Bounds
}

func (r reducer) item(object runtime.Object) (*item, error) {
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	made := &item{ObjectMeta: metav1.ObjectMeta{Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID(), ResourceVersion: m.GetResourceVersion()}}
	switch o := object.(type) {
	case *corev1.Pod:
		made.fact = reduce.OfPod(o, r.bounds)
	case *corev1.Node:
		made.fact = reduce.OfNode(o, r.bounds)
	default:
		made.fact = reduce.OfObject(r.kind, m)
	}
	return made, nil
}

// list reduces a page.
func (r reducer) list(page runtime.Object) (runtime.Object, error) {
	m, err := meta.ListAccessor(page)
	if err != nil {
		return nil, err
	}
	made := &itemList{ListMeta: metav1.ListMeta{ResourceVersion: m.GetResourceVersion(), Continue: m.GetContinue(), RemainingItemCount: m.GetRemainingItemCount()}}
	err = meta.EachListItem(page, func(o runtime.Object) error {
		i, err := r.item(o)
		made.Items = append(made.Items, i)
		return err
	})
	return made, err
}

// event reduces the object of an event, and says whether there is one.
func (r reducer) event(e watch.Event) (watch.Event, bool) {
	switch e.Type {
	case watch.Error:
		return e, true
	case watch.Bookmark:
		m, err := meta.Accessor(e.Object)
		if err != nil {
			return e, false
		}
		// The reflector looks for the annotation that ends a list.
		e.Object = &item{ObjectMeta: metav1.ObjectMeta{ResourceVersion: m.GetResourceVersion(), Annotations: m.GetAnnotations()}}
		return e, true
	}
	i, err := r.item(e.Object)
	e.Object = i
	return e, err == nil
}

// events are those of a watch, reduced. (watch.Filter would do, but for a goroutine that it leaves behind
// where a watch is stopped between two events.)
type events struct {
	to   chan watch.Event
	stop func()
	over chan struct{}
}

func (r reducer) watch(w watch.Interface) watch.Interface {
	e := &events{to: make(chan watch.Event, 256), over: make(chan struct{})}
	e.stop = sync.OnceFunc(func() { close(e.over); w.Stop() })
	go func() {
		defer close(e.to)
		for event := range w.ResultChan() {
			reduced, ok := r.event(event)
			if !ok {
				continue
			}
			select {
			case e.to <- reduced:
			case <-e.over:
				return
			}
		}
	}()
	return e
}

func (e *events) ResultChan() <-chan watch.Event { return e.to }
func (e *events) Stop()                          { e.stop() }
