package agent

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/klog/v2"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podstatus"
)

// Delays between tries at a request that failed.
const (
	firstRetry = 50 * time.Millisecond
	maxRetry   = 2 * time.Second
)

// request is one request to the API about a pod: a patch of its status, or its deletion.
type request struct {
	namespace, name string
	patch           []byte // nil: delete
	last            bool   // nothing will change after this patch
}

// sending is the outcome of a request.
type sending struct {
	pod  *corev1.Pod // as it is now, if the answer says so
	gone bool        // the API has no such pod
	last bool        // the last status has arrived
	err  error
}

// status is what the pod's status is to be now, as far as the node has to say.
func (w *worker) status() corev1.PodStatus {
	now := w.n.a.now()
	switch {
	case w.settled, w.plan.ended && podutil.IsPodPhaseTerminal(w.pod.Status.Phase):
		return w.pod.Status
	case w.plan.rejection != nil:
		return podstatus.Rejected(w.pod, *w.plan.rejection, now)
	}
	return podstatus.Of(w.pod, podstatus.Input{
		States: w.states, Ended: w.ended, Failure: w.failure,
		Address: w.n.a.cfg.Address, Started: w.started, Now: now,
	})
}

// currentStatus is the same for readers of logs, who can't wait for the API to know.
func (w *worker) currentStatus() corev1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		return w.pod.Status
	}
	return w.status()
}

// nextSending is what the API has to be told, nil if it knows all. The deletion comes last: when
// the pod has ended and the API knows how.
func (w *worker) nextSending() *request {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone || w.quiet || !w.known {
		return nil
	}
	r := &request{namespace: w.pod.Namespace, name: w.pod.Name}
	patch, err := statusPatch(w.pod, w.status())
	if err != nil {
		klog.ErrorS(err, "Pod status can't be written", "pod", klog.KObj(w.pod))
		return nil
	}
	switch {
	case patch != nil:
		r.patch, r.last = patch, w.ended
		return r
	case w.ended && w.pod.DeletionTimestamp != nil:
		return r
	}
	return nil
}

// statusPatch turns the pod's status into the wanted one; nil if it is that already. It fails on
// the server if the pod is another one by now.
func statusPatch(pod *corev1.Pod, want corev1.PodStatus) ([]byte, error) {
	from, err := json.Marshal(&corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(&corev1.Pod{Status: want})
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(from, to, corev1.Pod{})
	if err != nil || string(patch) == "{}" {
		return nil, err
	}
	to, err = json.Marshal(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: want})
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(from, to, corev1.Pod{})
}

// send makes a request. That the pod is gone is no error, but only the watch is believed when it
// says that all is over: an older version of the pod could still come, and would be run again.
func (w *worker) send(ctx context.Context, r *request) sending {
	var s sending
	pods := w.n.a.client.CoreV1().Pods(r.namespace)
	if r.patch != nil {
		s.pod, s.err = pods.Patch(ctx, r.name, types.StrategicMergePatchType, r.patch, metav1.PatchOptions{}, "status")
	} else {
		s.err = pods.Delete(ctx, r.name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(w.uid)),
		})
		s.gone = s.err == nil
	}
	if apierrors.IsNotFound(s.err) {
		s = sending{gone: true}
	}
	if s.err != nil {
		return sending{err: s.err}
	}
	s.last = r.last
	return s
}

func (w *worker) complain(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	klog.ErrorS(err, "Pod can't be updated, will try again", "node", w.n.spec.Name, "pod", klog.KObj(w.pod))
}
