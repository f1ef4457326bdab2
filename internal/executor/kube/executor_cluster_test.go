package kube

import (
	"errors"
	"io"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

// A step runs, its outputs and its log can be read, and it leaves nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := attempt1(t, "process", `outputs: [digest], run: "echo hello; echo digest=1 > $BERTH_OUTPUT"`)
	r.Start(a)
	o := r.untilPhase(a.Ref, run.PhaseEnded)
	if o.End == nil || o.End.Class != run.Success || o.End.Output != "digest=1\n" || o.End.Cut || o.StartedAt.IsZero() || o.Node == "" || o.ScheduledAt.IsZero() || o.Fence != 1 {
		t.Errorf("%+v %+v", o, o.End)
	}
	log, err := r.Log(cluster.Context(t), a.Ref, o.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if text, err := io.ReadAll(log); string(text) != "hello\n" || err != nil {
		t.Errorf("log %q, %v", text, err)
	}
	r.reapAll(a.Ref)
	if _, err := r.Log(cluster.Context(t), a.Ref, o.ID, false); !isNoLog(err) {
		t.Errorf("log of a pod that is gone: %v", err)
	}
	r.lawful()
	var origins int
	for _, seen := range r.seen[a.Ref] {
		origins += len(seen.Cluster)
	}
	if origins == 0 {
		t.Error("nothing is said of what the cluster added")
	}
}

// A second executor of the instance takes over what there is: what runs goes on, what has ended is known
// with its outputs, and what was being deleted is followed. Nothing is created.
func TestAdoption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	runs, over, deleted := attempt1(t, "process", `run: "sleep 600"`), attempt1(t, "process", `outputs: [a], run: "echo a=1 > $BERTH_OUTPUT"`),
		attempt1(t, "process", `run: "trap '' TERM; sleep 600"`)
	for _, a := range []executor.Attempt{runs, over, deleted} {
		r.Start(a)
	}
	before := r.untilPhase(runs.Ref, run.PhaseRunning)
	r.untilPhase(over.Ref, run.PhaseEnded)
	r.untilPhase(deleted.Ref, run.PhaseRunning)
	grace, now := int64(600), int64(0) // it is being deleted for as long as the test takes
	r.Stop(executor.Stop{Ref: deleted.Ref, Grace: &grace})
	beingDeleted := func(o run.Observation) bool { return !o.DeletionAt.IsZero() }
	ending := r.until(deleted.Ref, "being deleted", beingDeleted)
	r.restart()
	r.Start(runs)
	r.Start(deleted)
	if o := r.untilPhase(runs.Ref, run.PhaseRunning); o.ID != before.ID || o.Fence != 1 {
		t.Errorf("another one runs: %+v", o)
	}
	if o := r.untilPhase(over.Ref, run.PhaseEnded); o.End == nil || o.End.Output != "a=1\n" {
		t.Errorf("%+v", o)
	}
	r.until(deleted.Ref, "being deleted", beingDeleted)
	r.Stop(executor.Stop{Ref: deleted.Ref, Grace: &now})
	if o := r.untilPhase(deleted.Ref, run.PhaseGone); o.ID != ending.ID || o.DeletionAt.IsZero() {
		t.Errorf("%+v", o)
	}
	r.reapAll(runs.Ref, over.Ref)
	pods, err := r.Client.CoreV1().Pods(r.Executor.Namespace).List(cluster.Context(t), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(pods.Items), err)
	}
	r.lawful()
}

// A create that was answered nobody: the pod is there, with an older fence, and is taken over.
func TestCreateTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := attempt1(t, "process", `run: "sleep 600"`)
	other := New(Options{Clients: r.clients, Namespace: r.Executor.Namespace, Instance: r.Instance})
	first := a
	first.Fence = 7
	sent, err := other.pod(&first, 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.post(cluster.Context(t), sent); err != nil {
		t.Fatal(err)
	}
	if f := other.whose(cluster.Context(t), newAttempt(a.Ref), sent); f.err != nil || !other.ours(f.pod) || len(f.lost) > 0 {
		t.Errorf("%+v", f)
	}
	r.Start(a)
	if o := r.untilPhase(a.Ref, run.PhaseRunning); o.Fence != 7 {
		t.Errorf("fence %d", o.Fence)
	}
	r.Start(a)
	r.reapAll(a.Ref)
}

// A pod of the attempt's name that is someone else's, or another instance's, is left alone.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := attempt1(t, "process", `run: "sleep 600"`)
	other := New(Options{Clients: r.clients, Namespace: r.Executor.Namespace, Instance: "01OTHER0000000000000000000"})
	sent, err := other.pod(&a, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.post(cluster.Context(t), sent); err != nil {
		t.Fatal(err)
	}
	r.Start(a)
	o := r.untilPhase(a.Ref, run.PhaseGone)
	if o.Refused == nil || o.Refused.Reason != reason.NameTaken || !o.Refused.Final {
		t.Errorf("%+v", o.Refused)
	}
	r.Stop(executor.Stop{Ref: a.Ref})
	pod, err := r.Client.CoreV1().Pods(r.Executor.Namespace).Get(cluster.Context(t), newAttempt(a.Ref).name, metav1.GetOptions{})
	if err != nil || pod.DeletionTimestamp != nil {
		t.Errorf("it was not left alone: %v", err)
	}
}

// What is stopped before it is created, or before it has a node, never runs.
func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	never, pending, unknown := attempt1(t, "process", `run: "true"`), attempt1(t, "process", `run: "true", resources: {cpu: "1000", memory: 1Mi}`), attempt1(t, "process", `run: "true"`)
	r.Start(never)
	r.Stop(executor.Stop{Ref: never.Ref})
	r.Start(pending)
	if o := r.until(pending.Ref, "unschedulable", func(o run.Observation) bool { return o.Waiting != nil && o.Waiting.Reason == reason.Unschedulable }); o.Clock != run.ClockSchedule || o.Waiting.Message == "" {
		t.Errorf("%+v", o)
	}
	r.Stop(executor.Stop{Ref: pending.Ref})
	r.Stop(executor.Stop{Ref: unknown.Ref, ID: "6f2f0c7e-8a0c-4d3a-9a0b-0d8d1f0f0f0f"})
	r.Confirm(run.Ref{Run: newRun(), Step: "step", Attempt: 3}, "")
	for _, a := range []executor.Attempt{never, pending, unknown} {
		if o := r.untilPhase(a.Ref, run.PhaseGone); !o.StartedAt.IsZero() || o.Refused != nil {
			t.Errorf("%+v", o)
		}
		r.Start(a) // too late
	}
	pods, err := r.Client.CoreV1().Pods(r.Executor.Namespace).List(cluster.Context(t), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are left, %v", len(pods.Items), err)
	}
}

// That a pod is not in a list proves nothing, nor does it that another one of its name was to be deleted: the
// API server is asked, and only what it does not know is gone.
func TestAbsence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	there, lost := attempt1(t, "process", `run: "sleep 600"`), attempt1(t, "process", `run: "true"`)
	r.Start(there)
	id := r.untilPhase(there.Ref, run.PhaseRunning).ID
	r.Executor.mu.Lock()
	r.know(r.track(lost.Ref), run.Observation{Ref: lost.Ref, ID: "none", Phase: run.PhaseRunning})
	r.Executor.mu.Unlock()
	if err := (podStore{r.Executor}).Replace(nil, ""); err != nil {
		t.Fatal(err)
	}
	if o := r.untilPhase(lost.Ref, run.PhaseGone); o.End != nil || o.ID != "none" {
		t.Errorf("%+v", o)
	}
	r.Stop(executor.Stop{Ref: there.Ref, ID: "another"})
	r.until(there.Ref, "another is gone", func(o run.Observation) bool { return o.ID == "another" && o.Phase == run.PhaseGone })
	if err := r.delete(cluster.Context(t), newAttempt(there.Ref), errand{id: "another"}); err != nil {
		t.Error(err)
	}
	pod, err := r.Client.CoreV1().Pods(r.Executor.Namespace).Get(cluster.Context(t), newAttempt(there.Ref).name, metav1.GetOptions{})
	if err != nil || string(pod.UID) != id || pod.DeletionTimestamp != nil {
		t.Errorf("the pod did not stay: %v", err)
	}
}

// What the API server will never take is refused, in its words.
func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	invalid := attempt1(t, "process", `run: "true", k8s_overlay: {runtimeClassName: does-not-exist}`)
	r.Start(invalid)
	o := r.untilPhase(invalid.Ref, run.PhaseGone)
	if o.Refused == nil || o.Refused.Reason != reason.PodForbidden || !o.Refused.Final || o.Refused.Message == "" {
		t.Errorf("%+v", o.Refused)
	}
}

// A workspace is made once for a run, before its pods, and goes with it.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := made(t, "process", `
workspace: {size: 1Gi}
defaults: {image: "devplane/busybox:1", resources: {cpu: 10m, memory: 16Mi}}
steps: [{name: one, run: "touch a"}, {name: two, run: "true"}, {name: three, workspace: false, run: "true"}]
`)
	id := newRun()
	var refs []run.Ref
	for i := range p.Steps {
		a := of(p, id, i, 1)
		refs = append(refs, a.Ref)
		r.Start(a)
	}
	for _, ref := range refs {
		if o := r.untilPhase(ref, run.PhaseEnded); o.End == nil || o.End.Class != run.Success {
			t.Errorf("%+v", o)
		}
	}
	r.reapAll(refs...)
	for range 2 {
		if err := r.FinishRun(cluster.Context(t), id); err != nil {
			t.Error(err)
		}
	}
	c, err := r.Client.CoreV1().PersistentVolumeClaims(r.Executor.Namespace).Get(cluster.Context(t), claimName(id), metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || c.DeletionTimestamp == nil) {
		t.Errorf("the claim is still there: %v", err)
	}
}

func isNoLog(err error) bool { return errors.Is(err, executor.ErrNoLog) }
