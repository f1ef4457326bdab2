package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/component-helpers/apimachinery/lease"
	nodeutil "k8s.io/component-helpers/node/util"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// statusEvery is how often a node's status is written though nothing changed, as the kubelet does.
const statusEvery = 5 * time.Minute

// keepAlive registers the node and keeps it Ready until ctx is done.
func (n *node) keepAlive(ctx context.Context) {
	uid, ok := n.publish(ctx)
	if !ok {
		return
	}
	seconds := int32(max(1, math.Ceil(n.a.cfg.LeaseDuration.Seconds())))
	leases := lease.NewController(clock.RealClock{}, n.a.client, n.spec.Name, seconds, nil, n.a.cfg.HeartbeatEvery,
		n.spec.Name, corev1.NamespaceNodeLease, func(l *coordinationv1.Lease) error {
			l.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: n.spec.Name, UID: uid,
			}}
			return nil
		})
	go leases.Run(ctx)
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.unwell:
		}
		n.publish(ctx)
	}
}

// publish brings the node in the API to what it is to be, trying until that has succeeded or ctx
// is done.
func (n *node) publish(ctx context.Context) (types.UID, bool) {
	for delay := 50 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		object, err := n.publishOnce(ctx)
		if err == nil {
			return object.UID, true
		}
		if ctx.Err() == nil {
			klog.ErrorS(err, "Node can't be registered", "node", n.spec.Name)
		}
		if !sleep(ctx, delay) {
			return "", false
		}
	}
}

func (n *node) publishOnce(ctx context.Context) (*corev1.Node, error) {
	nodes := n.a.client.CoreV1().Nodes()
	want := nodeObject(n.spec, n.a.endpoint, n.bootID, time.Now())
	old, err := nodes.Get(ctx, n.spec.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nodes.Create(ctx, want, metav1.CreateOptions{})
	}
	if err != nil {
		return nil, err
	}
	merged := merge(old, want)
	if err := n.patchSpec(ctx, old, merged); err != nil {
		return nil, err
	}
	patched, _, err := nodeutil.PatchNodeStatus(n.a.client.CoreV1(), types.NodeName(n.spec.Name), old, merged)
	return patched, err
}

// patchSpec writes labels and taints if they differ. The resource version guards the taints of
// others, which would be lost if they came in between.
func (n *node) patchSpec(ctx context.Context, old, merged *corev1.Node) error {
	if equality.Semantic.DeepEqual(old.Labels, merged.Labels) && equality.Semantic.DeepEqual(old.Spec.Taints, merged.Spec.Taints) {
		return nil
	}
	from, err := json.Marshal(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: old.Labels}, Spec: corev1.NodeSpec{Taints: old.Spec.Taints}})
	if err != nil {
		return err
	}
	to, err := json.Marshal(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: merged.Labels, ResourceVersion: old.ResourceVersion},
		Spec:       corev1.NodeSpec{Taints: merged.Spec.Taints},
	})
	if err != nil {
		return err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(from, to, corev1.Node{})
	if err != nil {
		return err
	}
	if _, err := n.a.client.CoreV1().Nodes().Patch(ctx, n.spec.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("updating labels and taints: %w", err)
	}
	return nil
}

// sleep waits, and says whether it was not interrupted.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
