package collect

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// How long a watch that failed pauses before it is tried again. A right that is missing is rarely given within
// minutes.
const (
	pause          = 500 * time.Millisecond
	mostPause      = 30 * time.Second
	forbiddenPause = time.Minute
	page           = 500 // objects of a list in one answer
)

// watch follows one source until the context ends.
func (c *Collector) watch(ctx context.Context, s *source) {
	// The reflector logs; what happens is said by the source, in words that hold nothing of an object.
	ctx = klog.NewContext(ctx, klog.Logger{})
	inside := backoff()
	options := cache.ReflectorOptions{Name: s.Resource, Backoff: &inside}
	r := cache.NewReflectorWithOptions(c.lister(s), &item{}, sink{c.Facts, s}, options)
	again := backoff()
	for {
		began := c.options.Now()
		err := r.ListAndWatchWithContext(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil && c.options.Now().Sub(began) > time.Minute {
			again = backoff()
		}
		d := again.Step()
		if apierrors.IsForbidden(err) {
			d = forbiddenPause
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return
		}
	}
}

func backoff() wait.Backoff {
	return wait.Backoff{Duration: pause, Cap: mostPause, Factor: 2, Jitter: 0.5, Steps: 10}
}

// lister asks for a source's objects, reduces them, and notes how that went.
func (c *Collector) lister(s *source) cache.ListerWatcher {
	reduce := reducer{s.Kind, c.options.Bounds}
	ask := c.asker(s.watched)
	note := func(ctx context.Context, err error) {
		switch {
		case err == nil:
			s.answered()
		case ctx.Err() == nil:
			s.failed(err, c.options.Now())
			c.options.Log.Warn("can't be read", "resource", s.Resource, "why", c.options.Clients.Explain(err))
		}
	}
	made := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Limit == 0 || o.ResourceVersion == "0" {
				// An API server answers these with all there is, at once.
				o.Limit, o.ResourceVersion, o.ResourceVersionMatch = page, "", ""
			}
			list, err := ask.list(ctx, o)
			note(ctx, err)
			if err != nil {
				return nil, err
			}
			return reduce.list(list)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := ask.watch(ctx, o)
			note(ctx, err)
			if err != nil {
				return nil, err
			}
			return reduce.watch(w), nil
		},
	}
	if c.options.Paged {
		return paged{made}
	}
	return made
}

// paged keeps the reflector from streaming lists.
type paged struct{ *cache.ListWatch }

func (paged) IsWatchListSemanticsUnSupported() bool { return true }

// asker makes the requests of one watch.
type asker struct {
	list  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func (c *Collector) asker(w watched) asker {
	if w.Resource != "pods" && w.Resource != "nodes" {
		r := c.options.Clients.Metadata(w.GroupVersionResource, w.Namespace)
		return asker{
			list:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return r.List(ctx, o) },
			watch: r.Watch,
		}
	}
	core := c.options.Clients.Core()
	return asker{
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return core.Get().Namespace(w.Namespace).Resource(w.Resource).VersionedParams(&o, metav1.ParameterCodec).Do(ctx).Get()
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			timeout := time.Duration(0)
			if o.TimeoutSeconds != nil {
				timeout = time.Duration(*o.TimeoutSeconds) * time.Second
			}
			return core.Get().Namespace(w.Namespace).Resource(w.Resource).VersionedParams(&o, metav1.ParameterCodec).Timeout(timeout).Watch(ctx)
		},
	}
}

// sink takes what the reflector has to say.
type sink struct {
	facts  *Facts
	source *source
}

var _ cache.ReflectorStore = sink{}

func (s sink) Add(o any) error    { s.facts.put(o.(*item)); return nil }
func (s sink) Update(o any) error { s.facts.put(o.(*item)); return nil }
func (s sink) Delete(o any) error { s.facts.drop(o.(*item)); return nil }
func (sink) Resync() error        { return nil }

func (s sink) Replace(list []any, _ string) error {
	items := make([]*item, len(list))
	for i, o := range list {
		items[i] = o.(*item)
	}
	s.facts.replace(s.source.watched, items)
	s.source.listed()
	return nil
}
