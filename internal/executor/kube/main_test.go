package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

var shared = cluster.Share("testdata/nodes.yaml")

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// rig is an executor at work in a namespace of a test's own, and what it has reported.
type rig struct {
	*cluster.Cluster
	*Executor
	t       testing.TB
	clients Clients
	*recorder
	stop func()
}

// newRig starts an executor as the cluster's administrator.
func newRig(t *testing.T) *rig {
	t.Helper()
	c := shared.Get(t)
	r := &rig{Cluster: c, t: t, clients: clients(t, c.Config)}
	r.begin(c.Namespace(t), fmt.Sprintf("01TEST%020d", number.Add(1)))
	return r
}

// begin starts an executor for an instance, and waits until it knows what there is.
func (r *rig) begin(namespace, instance string) {
	r.t.Helper()
	r.Executor = New(Options{Clients: r.clients, Namespace: namespace, Instance: instance})
	r.recorder = newRecorder()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	e, rec := r.Executor, r.recorder
	go func() { over <- e.Run(ctx, rec) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-over; err != nil {
			r.t.Error(err)
		}
	})
	r.stop = stop
	r.t.Cleanup(stop)
	select {
	case <-rec.synced:
	case <-cluster.Context(r.t).Done():
		r.t.Fatal("never synced")
	}
}

// restart lets another executor go on for the same instance.
func (r *rig) restart() {
	r.t.Helper()
	r.stop()
	r.begin(r.Executor.Namespace, r.Instance)
}

// clients are like those that package kubeclient makes, with limits that no test can feel.
func clients(t testing.TB, config *rest.Config) Clients {
	t.Helper()
	client := func(contentType string) rest.Interface {
		c := rest.CopyConfig(config)
		c.ContentType, c.AcceptContentTypes = contentType, contentType+","+runtime.ContentTypeJSON
		c.APIPath, c.GroupVersion, c.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, Codecs
		k, err := rest.RESTClientFor(c)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	k := client(runtime.ContentTypeProtobuf)
	return Clients{Dispatch: client(runtime.ContentTypeJSON), Reap: k, Watch: k, Logs: k, Claims: k}
}

// number makes names of instances and runs unique.
var number atomic.Int64

// newRun is the id of a run.
func newRun() string { return fmt.Sprintf("01RVN%021d", number.Add(1)) }

// made makes the plan of a pipeline with the steps, on nodes of a kind.
func made(t testing.TB, kind, steps string) *plan.Plan {
	t.Helper()
	operator, findings := profile.Load("operator.yaml", []byte(`
version: 1
baseline:
  k8s: {nodeSelector: {devplane.berth.dev/kind: `+kind+`}, tolerations: [{operator: Exists}], terminationGracePeriodSeconds: 2}
environments: [{name: target, permits: {k8s_overlay: true}}]
`))
	if operator == nil {
		t.Fatal(findings.Text(nil))
	}
	text := "version: 1\nname: test\nenvironment: target\n" + steps
	file, findings := pipeline.Parse("pipeline.yaml", []byte(text), pipeline.Options{})
	if file == nil {
		t.Fatalf("%s\n%s", findings.Text(nil), text)
	}
	out := plan.Make(file, operator, pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		t.Fatalf("%s\n%s", out.Findings.Text(nil), text)
	}
	return out.Plan
}

// attempt is the first attempt of the plan's only step in a new run. body is what the step has beside its
// name, image and resources.
func attempt1(t testing.TB, kind, body string) executor.Attempt {
	t.Helper()
	image := ""
	if !strings.Contains(body, "image:") {
		image = "image: devplane/busybox:1, "
	}
	resources := ""
	if !strings.Contains(body, "resources:") {
		resources = "resources: {cpu: 10m, memory: 16Mi}, "
	}
	p := made(t, kind, "steps: [{name: step, "+image+resources+body+"}]\n")
	return of(p, newRun(), 0, 1)
}

// of is an attempt of a step of a plan.
func of(p *plan.Plan, id string, step, number int) executor.Attempt {
	s := &p.Steps[step]
	return executor.Attempt{Ref: run.Ref{Run: id, Step: s.ID, Attempt: number}, Fence: int64(number), Pipeline: p.Pipeline, Spec: s, Workspace: p.Workspace}
}

// recorder keeps what is reported, and holds it to the protocol.
type recorder struct {
	lock    sync.Mutex
	changed chan struct{} // closed at each change, and made anew
	last    map[run.Ref]run.Observation
	ended   map[run.Ref]run.Observation // the first that said so
	seen    map[run.Ref][]run.Observation
	fences  map[run.Ref]int64
	refuse  bool // no more fences
	synced  chan struct{}
	wrong   []string
}

func newRecorder() *recorder {
	return &recorder{changed: make(chan struct{}), last: map[run.Ref]run.Observation{}, ended: map[run.Ref]run.Observation{},
		seen: map[run.Ref][]run.Observation{}, fences: map[run.Ref]int64{}, synced: make(chan struct{})}
}

func (r *recorder) Synced() { close(r.synced) }

func (r *recorder) Fence(_ context.Context, ref run.Ref) (int64, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.refuse {
		return 0, errors.New("no more")
	}
	r.fences[ref]++
	return 100 + r.fences[ref], nil
}

func (r *recorder) Observe(o run.Observation) {
	r.lock.Lock()
	defer r.lock.Unlock()
	before := r.last[o.Ref]
	switch {
	case o.Phase.Before(before.Phase):
		r.wrong = append(r.wrong, fmt.Sprintf("%v: %s after %s", o.Ref, o.Phase, before.Phase))
	case !before.DeletionAt.IsZero() && o.Phase != run.PhaseGone && !o.DeletionAt.Equal(before.DeletionAt):
		r.wrong = append(r.wrong, fmt.Sprintf("%v: deleted at %s, and before at %s", o.Ref, o.DeletionAt, before.DeletionAt))
	}
	r.last[o.Ref] = o
	r.seen[o.Ref] = append(r.seen[o.Ref], o)
	if _, had := r.ended[o.Ref]; !had && (o.End != nil || o.Phase == run.PhaseGone) {
		r.ended[o.Ref] = o
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits for an observation of an attempt that is as wanted.
func (r *rig) until(ref run.Ref, what string, wanted func(run.Observation) bool) run.Observation {
	r.t.Helper()
	ctx := cluster.Context(r.t)
	for {
		r.lock.Lock()
		o, changed := r.last[ref], r.changed
		r.lock.Unlock()
		if o.Phase != "" && wanted(o) {
			return o
		}
		select {
		case <-changed:
		case <-ctx.Done():
			r.t.Fatalf("%v never %s: %+v", ref, what, o)
		}
	}
}

func (r *rig) untilPhase(ref run.Ref, phase run.Phase) run.Observation {
	r.t.Helper()
	return r.until(ref, string(phase), func(o run.Observation) bool { return !o.Phase.Before(phase) })
}

// reap stops an ended attempt and waits until it is gone, as the engine does.
func (r *rig) reapAll(refs ...run.Ref) {
	r.t.Helper()
	for _, ref := range refs {
		r.Stop(executor.Stop{Ref: ref})
	}
	for _, ref := range refs {
		r.untilPhase(ref, run.PhaseGone)
	}
}

// lawful fails the test if an observation broke the protocol.
func (r *rig) lawful() {
	r.t.Helper()
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, w := range r.wrong {
		r.t.Error(w)
	}
}
