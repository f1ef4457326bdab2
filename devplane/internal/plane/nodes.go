package plane

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/devplane/internal/agent"
	"github.com/berthdev/berth/devplane/internal/nodefile"
	"github.com/berthdev/berth/devplane/internal/realnode"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// waitNodes returns when every node is ready, takes pods and carries what the node file says.
func (p *Plane) waitNodes(ctx context.Context) error {
	waiting := map[string]nodefile.Node{}
	for _, n := range p.opts.Nodes {
		waiting[n.Name] = n
	}
	if len(waiting) == 0 {
		return nil
	}
	lw := cache.NewListWatchFromClient(p.client.CoreV1().RESTClient(), "nodes", "", fields.Everything())
	_, err := watchtools.UntilWithSync(ctx, lw, &corev1.Node{}, nil, func(e watch.Event) (bool, error) {
		node, ok := e.Object.(*corev1.Node)
		if !ok || !agent.Healthy(node) || shunned(node) {
			return false, nil
		}
		if want, ok := waiting[node.Name]; ok {
			if want.Kind == nodefile.Real {
				if err := p.dress(ctx, want); err != nil {
					return false, err
				}
			}
			delete(waiting, node.Name)
		}
		return len(waiting) == 0, nil
	})
	if err != nil {
		var names []string
		for name := range waiting {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("wait for nodes %s: %w", strings.Join(names, ", "), cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// shunned says whether the node still has the taint of one that is not ready: the node lifecycle controller takes it
// off a moment after the node is, and until then the scheduler calls every pod unschedulable.
func shunned(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
}

// dress gives a real node the labels that a kubelet may not give itself and the extended
// resources that it doesn't find. The kubelet leaves both alone.
func (p *Plane) dress(ctx context.Context, n nodefile.Node) error {
	labels := map[string]string{"devplane.berth.dev/kind": string(n.Kind), "devplane.berth.dev/pool": n.Pool}
	for k, v := range n.Labels {
		labels[k] = v
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	nodes := p.client.CoreV1().Nodes()
	if _, err := nodes.Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	ext := realnode.Extended(n.Capacity)
	if len(ext) == 0 {
		return nil
	}
	patch, err = json.Marshal(map[string]any{"status": map[string]any{"capacity": ext, "allocatable": ext}})
	if err != nil {
		return err
	}
	_, err = nodes.Patch(ctx, n.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
