package fit

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/transcript"
)

var seedFlag = flag.Uint64("fit.seed", 0, "seed of the differential test; 0 is another one each time")

// A few pods ask of the same cluster, one after another; where one lands it may stay.
const asksOfOne = 10

// The verdicts are the real scheduler's: a pod that it places lands on a node that fits, one that it leaves
// waiting fits none, and its message counts what ours do.
func TestSchedulerAgrees(t *testing.T) {
	cases, seed := 500, *seedFlag
	if os.Getenv("BERTH_SOAK") != "" {
		cases = 5000
	}
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d (-fit.seed)", seed)
	f := newFleet(newRig(t))
	defer f.reset()
	defer func() { f.clear() }()
	landed, kinds := map[bool]int{}, map[Kind]int{}
	for n := range cases {
		d := newDice(seed, uint64(n))
		d.mood = mood(n/asksOfOne) % moods
		if n%asksOfOne == 0 {
			f.change(d)
		}
		a := f.hold(d, fmt.Sprintf("case-%d", n))
		if wrong := agrees(a, a.verdicts); wrong != "" {
			o := f.Objects
			o.Pods = f.written
			f.remove(a.pod)
			f.clear()
			f.reset()
			t.Fatalf("seed %d, case %d: %s\n%s\n%s", seed, n, wrong, show(a.verdicts), f.report(o, a.written))
		}
		f.keep(d, a)
		landed[a.node != ""]++
		for _, v := range a.verdicts {
			if len(v.Reasons) > 0 {
				kinds[v.Reasons[0].Kind]++
			}
		}
	}
	t.Logf("%d landed, %d waited; %d invalid; first reasons: %v", landed[true], landed[false], f.invalid, kinds)
	if min(landed[true], landed[false])*5 < cases {
		t.Error("the cases are too much alike")
	}
}

// fleet is nodes that change from one cluster to the next, and the pods on them.
type fleet struct {
	*rig
	Objects
	written []*corev1.Pod // Pods as they were before the API server added to them
	invalid int           // pods that the API server refused
}

func newFleet(r *rig) *fleet {
	f := &fleet{rig: r}
	text, err := os.ReadFile("testdata/storage.txt")
	r.check(err)
	_, sections := transcript.Sections(string(text))
	sections = append(sections, transcript.Section{Name: "pod", Body: "{}"})
	s := sceneOf(r.t, sections)
	r.namespace("barrier", nil)
	f.Objects = r.build(s)
	f.Namespaces = []*corev1.Namespace{r.namespace("shop", map[string]string{"team": "one"}), r.namespace("data", map[string]string{"team": "two"}), r.namespace("infra", nil)}
	for _, n := range newDice(0, 0).nodes() {
		f.Nodes = append(f.Nodes, r.node(n))
	}
	return f
}

// change makes another cluster of it: nodes anew, and pods on them.
func (f *fleet) change(d *dice) {
	f.t.Helper()
	f.clear()
	next := d.nodes()
	errs := make([]error, len(next))
	var all sync.WaitGroup
	for i, n := range next {
		all.Go(func() { next[i], errs[i] = f.patch(f.Nodes[i], n) })
	}
	all.Wait()
	f.check(errors.Join(errs...))
	f.Nodes, f.Pods = next, []*corev1.Pod{}
	for i := range d.IntN(10 + 5*int(d.mood)) {
		p := d.pod(fmt.Sprintf("old-%d", i))
		p.Spec.NodeName = of(d, f.Nodes...).Name
		if d.one(8) {
			p.DeletionTimestamp = new(metav1.Now())
		}
		if made, err := f.place(p); f.valid(err) {
			f.Pods, f.written = append(f.Pods, made), append(f.written, p)
		}
	}
	f.settle()
}

// clear takes all pods away.
func (f *fleet) clear() {
	f.t.Helper()
	for _, p := range f.Pods {
		f.remove(p)
	}
	f.Pods, f.written = []*corev1.Pod{}, nil
}

// valid says whether the API server took what dice had made.
func (f *fleet) valid(err error) bool {
	f.t.Helper()
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		f.invalid++
		if f.invalid < 5 {
			f.t.Log(err)
		}
		return false
	}
	f.check(err)
	return true
}

// patch makes of one node another.
func (f *fleet) patch(old, next *corev1.Node) (*corev1.Node, error) {
	labels, room := map[string]any{}, map[string]any{} // null takes a key away
	for k := range old.Labels {
		labels[k] = nil
	}
	for k, v := range next.Labels {
		labels[k] = v
	}
	for k := range old.Status.Allocatable {
		room[string(k)] = nil
	}
	for k, v := range next.Status.Allocatable {
		room[string(k)] = v
	}
	taints := append([]corev1.Taint{}, next.Spec.Taints...)
	_, err := f.patchNode(old.Name, map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"taints": taints, "unschedulable": next.Spec.Unschedulable}})
	if err != nil {
		return nil, err
	}
	return f.patchNode(old.Name, map[string]any{"status": map[string]any{"allocatable": room, "capacity": room}}, "status")
}

func (f *fleet) patchNode(name string, patch any, subresources ...string) (*corev1.Node, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	return f.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
}

// hold lets a pod ask, and asks the same of us.
func (f *fleet) hold(d *dice, name string) answer {
	f.t.Helper()
	for {
		pod := d.pod(name)
		a, err := f.ask(pod)
		if !f.valid(err) {
			continue
		}
		o := f.Objects
		o.Nodes = append(slices.Clone(f.Nodes), f.barrier)
		a.written, a.verdicts = pod, NewSnapshot(o).Explain(unbound(a.pod))
		return a
	}
}

// unbound is the pod as it asked.
func unbound(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.Spec.NodeName = ""
	return p
}

// keep lets some of those stay that have landed: the next pod finds them there.
func (f *fleet) keep(d *dice, a answer) {
	f.t.Helper()
	if a.node != "" && !d.one(3) {
		a.written.Spec.NodeName = a.node
		f.Pods, f.written = append(f.Pods, a.pod), append(f.written, a.written)
	} else {
		f.remove(a.pod)
	}
}
