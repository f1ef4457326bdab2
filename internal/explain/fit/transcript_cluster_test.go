package fit

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/transcript"
	"github.com/berthdev/berth/test/cluster"
)

// The real scheduler says of each case what its section "scheduler" has, but for the barrier node that the
// real cluster has beside.
func TestSchedulerSaysSo(t *testing.T) {
	r := newRig(t)
	r.namespace("barrier", nil)
	transcript.Test(t, "testdata/cases/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		s := sceneOf(t, sections)
		if s.offline != "" {
			return text
		}
		title, _, _ := strings.Cut(prose, "\n")
		t.Run(title, func(t *testing.T) {
			r.t = t
			defer r.reset()
			s.Objects = r.build(s)
			r.settle()
			s.Nodes = append(s.Nodes, r.barrier)
			verdicts := NewSnapshot(s.Objects).Explain(s.pod)
			a, err := r.ask(s.pod)
			r.check(err)
			defer r.remove(a.pod)
			if agrees(a, verdicts) == "" {
				return
			}
			if len(s.Claims) > 0 { // of which the scheduler may have learned later, and look again
				limit := time.Now().Add(10 * time.Second)
				p := r.answer(a.pod, func(p *corev1.Pod) bool {
					if p.Spec.NodeName == "" && refusal(p) != nil {
						a = answer{pod: p, message: refusal(p).Message}
					} else {
						a = answer{pod: p, node: p.Spec.NodeName}
					}
					return agrees(a, verdicts) == "" || time.Now().After(limit)
				})
				a.pod = p
			}
			if wrong := agrees(a, verdicts); wrong != "" {
				t.Errorf("%s\n%s", wrong, show(verdicts))
			}
		})
		return text
	})
	r.t = t
}

// agrees says in what an answer and verdicts disagree; "" if they agree. The scheduler's message goes on with
// what plugins say that have looked for pods to preempt, or for claims to give back.
func agrees(a answer, verdicts []Verdict) string {
	fitting, ours := fitting(verdicts), Counts(verdicts).String()
	switch {
	case a.node != "" && !slices.Contains(fitting, a.node):
		return "the pod landed on " + a.node + ", which does not fit"
	case a.node == "" && len(fitting) > 0:
		return "the pod waits, and fits on " + strings.Join(fitting, ", ") + ": " + a.message
	case a.node == "" && !strings.HasPrefix(a.message+" ", ours+" "):
		return "the scheduler says\n" + a.message + "\nand the verdicts\n" + ours
	}
	return ""
}

// build brings the cluster to a scene, and gives what there is then.
func (r *rig) build(s scene) Objects {
	r.t.Helper()
	o := Objects{Namespaces: []*corev1.Namespace{}}
	labels := map[string]map[string]string{"shop": nil}
	for _, p := range append(slices.Clone(s.Pods), s.pod) {
		labels[p.Namespace] = nil
	}
	for _, n := range s.Namespaces {
		labels[n.Name] = n.Labels
	}
	for _, name := range sortedKeys(labels) {
		o.Namespaces = append(o.Namespaces, r.namespace(name, labels[name]))
	}
	for _, n := range s.Nodes {
		o.Nodes = append(o.Nodes, r.node(n))
	}
	r.buildStorage(s, &o)
	o.Pods = []*corev1.Pod{}
	for _, p := range s.Pods {
		made, err := r.place(p)
		r.check(err)
		r.undo = append(r.undo, func() { r.remove(made) })
		o.Pods = append(o.Pods, made)
	}
	return o
}

func (r *rig) buildStorage(s scene, o *Objects) {
	r.t.Helper()
	storage, core := r.StorageV1(), r.CoreV1()
	o.Classes, o.CSIDrivers, o.CSINodes = slices.Clone(s.Classes), slices.Clone(s.CSIDrivers), s.CSINodes
	o.Attachments, o.Capacities, o.DeviceClasses = s.Attachments, s.Capacities, s.DeviceClasses
	o.Volumes, o.Claims = slices.Clone(s.Volumes), slices.Clone(s.Claims)
	for i, c := range s.Classes {
		made, err := storage.StorageClasses().Create(ctx, c, metav1.CreateOptions{})
		r.check(err)
		o.Classes[i] = made
		r.later(func() error { return storage.StorageClasses().Delete(ctx, c.Name, now) })
	}
	for i, c := range s.CSIDrivers {
		made, err := storage.CSIDrivers().Create(ctx, c, metav1.CreateOptions{})
		r.check(err)
		o.CSIDrivers[i] = made
		r.later(func() error { return storage.CSIDrivers().Delete(ctx, c.Name, now) })
	}
	for _, c := range s.CSINodes {
		_, err := storage.CSINodes().Create(ctx, c, metav1.CreateOptions{})
		r.check(err)
		r.later(func() error { return storage.CSINodes().Delete(ctx, c.Name, now) })
	}
	for _, c := range s.Capacities {
		_, err := storage.CSIStorageCapacities(c.Namespace).Create(ctx, c, metav1.CreateOptions{})
		r.check(err)
		r.later(func() error { return storage.CSIStorageCapacities(c.Namespace).Delete(ctx, c.Name, now) })
	}
	for _, v := range s.Volumes {
		_, err := core.PersistentVolumes().Create(ctx, v, metav1.CreateOptions{})
		r.check(err)
		r.later(func() error {
			_, _ = core.PersistentVolumes().Patch(ctx, v.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			return core.PersistentVolumes().Delete(ctx, v.Name, now)
		})
	}
	for _, a := range s.Attachments {
		_, err := storage.VolumeAttachments().Create(ctx, a, metav1.CreateOptions{})
		r.check(err)
		r.later(func() error { return storage.VolumeAttachments().Delete(ctx, a.Name, now) })
	}
	for _, c := range s.Claims {
		asks := c.DeepCopy()
		if c.Status.Phase == corev1.ClaimBound {
			asks.Annotations = nil // which the volume controller writes, once it has bound it
		}
		_, err := core.PersistentVolumeClaims(c.Namespace).Create(ctx, asks, metav1.CreateOptions{})
		r.check(err)
		r.later(func() error {
			if err := core.PersistentVolumeClaims(c.Namespace).Delete(ctx, c.Name, now); err != nil {
				return err
			}
			_, err := core.PersistentVolumeClaims(c.Namespace).Patch(ctx, c.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			return err
		})
		if c.DeletionTimestamp != nil { // a finalizer of every claim keeps it, as long as pods use it
			r.check(core.PersistentVolumeClaims(c.Namespace).Delete(ctx, c.Name, now))
		}
	}
	r.bindAll(s, o)
}

// bindAll waits until claims and volumes are as the scene has them.
func (r *rig) bindAll(s scene, o *Objects) {
	r.t.Helper()
	for i, c := range s.Claims {
		cluster.Eventually(r.t, "claim "+c.Name+" is as it should be", func() bool {
			made, err := r.CoreV1().PersistentVolumeClaims(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
			r.check(err)
			o.Claims[i] = made
			return c.Status.Phase == "" || made.Status.Phase == c.Status.Phase && bound(made) == bound(c)
		})
	}
	for i, v := range s.Volumes {
		cluster.Eventually(r.t, "volume "+v.Name+" is as it should be", func() bool {
			made, err := r.CoreV1().PersistentVolumes().Get(ctx, v.Name, metav1.GetOptions{})
			r.check(err)
			o.Volumes[i] = made
			return v.Status.Phase == "" || made.Status.Phase == v.Status.Phase
		})
	}
}

func (r *rig) later(undo func() error) {
	r.undo = append(r.undo, func() {
		if err := undo(); !apierrors.IsNotFound(err) {
			r.check(err)
		}
	})
}
