package kube

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

// quota bounds the namespace, and waits until the cluster knows how much is used.
func (r *rig) quota(hard corev1.ResourceList) {
	r.t.Helper()
	ctx, quotas := cluster.Context(r.t), r.Client.CoreV1().ResourceQuotas(r.Executor.Namespace)
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if _, err := quotas.Create(ctx, q, metav1.CreateOptions{}); err != nil {
		r.t.Fatal(err)
	}
	cluster.Eventually(r.t, "a quota that counts", func() bool {
		q, err := quotas.Get(ctx, "team", metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) == len(hard) && len(q.Status.Used) == len(hard)
	})
}

// Forty steps in a namespace that may have five pods all get through, five at a time, and no attempt is
// spent. That those who wait do not ask on their own shows in the fences: each create but the first has one.
func TestQuotaFull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quota(corev1.ResourceList{corev1.ResourcePods: resource.MustParse("5")})
	all := make([]executor.Attempt, 40)
	for i := range all {
		all[i] = attempt1(t, "scale", `run: "true"`)
		r.Start(all[i])
	}
	r.until(all[39].Ref, "waits for the quota, or is past it", func(o run.Observation) bool {
		return o.ID != "" || o.Waiting != nil && o.Waiting.Reason == reason.QuotaExceeded
	})
	for _, a := range all {
		o := r.untilPhase(a.Ref, run.PhaseEnded)
		if o.End == nil || o.End.Class != run.Success {
			t.Errorf("%+v %+v", o, o.End)
		}
		r.Stop(executor.Stop{Ref: a.Ref})
	}
	again := int64(0)
	for _, n := range r.fences {
		again += n
	}
	t.Logf("%d creates were sent again", again)
	if again > 120 {
		t.Errorf("%d creates of 40 steps were sent again", again)
	}
	r.lawful()
}

// A step that asks for more than the quota has in all would wait for ever: it is refused with both numbers.
func TestQuotaTooSmall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quota(corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2"), corev1.ResourceRequestsMemory: resource.MustParse("1Gi")})
	large := attempt1(t, "process", `run: "true", resources: {cpu: "3", memory: 16Mi}`)
	r.Start(large)
	o := r.untilPhase(large.Ref, run.PhaseGone)
	if o.Refused == nil || o.Refused.Reason != reason.QuotaTooSmall || !o.Refused.Final || !strings.Contains(o.Refused.Message, "requests.cpu=3") || !strings.Contains(o.Refused.Message, "requests.cpu=2") {
		t.Errorf("%+v", o.Refused)
	}
	fits := attempt1(t, "process", `run: "true"`)
	r.Start(fits)
	r.untilPhase(fits.Ref, run.PhaseEnded)
}

// One that waits for the quota and is not wanted any more makes room for those behind it.
func TestQuotaAndStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quota(corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")})
	first, second, third := attempt1(t, "process", `run: "sleep 600"`), attempt1(t, "process", `run: "true"`), attempt1(t, "process", `run: "true"`)
	r.Start(first)
	r.untilPhase(first.Ref, run.PhaseRunning)
	for _, a := range []executor.Attempt{second, third} {
		r.Start(a)
		r.until(a.Ref, "waits for the quota", func(o run.Observation) bool { return o.Waiting != nil && o.Waiting.Reason == reason.QuotaExceeded })
	}
	if w := r.last[third.Ref].Waiting; strings.Contains(w.Message, "requested") {
		t.Errorf("it asked, though another one does: %s", w.Message)
	}
	r.Stop(executor.Stop{Ref: second.Ref})
	if o := r.untilPhase(second.Ref, run.PhaseGone); o.ID != "" {
		t.Errorf("%+v", o)
	}
	r.reapAll(first.Ref)
	r.untilPhase(third.Ref, run.PhaseEnded)
	r.lawful()
}
