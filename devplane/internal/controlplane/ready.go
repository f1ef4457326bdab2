package controlplane

import (
	"context"
	"fmt"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Client is the administrator's.
func (p *Plane) Client() (kubernetes.Interface, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", p.Instance.Kubeconfig())
	if err != nil {
		return nil, err
	}
	cfg.QPS, cfg.Burst = 2000, 4000
	cfg.UserAgent = "devplane"
	return kubernetes.NewForConfig(cfg)
}

// interval is how often readiness is asked for. The API offers no event before it is up.
const interval = 25 * time.Millisecond

func until(ctx context.Context, what string, done func() error) error {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (last answer: %v)", what, context.Cause(ctx), err)
		case <-t.C:
		}
	}
}

// WaitAPIServer returns when the API server says that it is ready.
func (p *Plane) WaitAPIServer(ctx context.Context) error {
	client, err := p.Client()
	if err != nil {
		return err
	}
	return until(ctx, "wait for the API server", func() error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	})
}

// WaitControllers returns when the controller manager works: the default ServiceAccount, without
// which no pod can be created, exists.
func (p *Plane) WaitControllers(ctx context.Context) error {
	client, err := p.Client()
	if err != nil {
		return err
	}
	return until(ctx, "wait for the default ServiceAccount", func() error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// NodesUser is the identity of all process and scale nodes, VolumesUser that of the provisioner.
const (
	NodesUser   = "devplane:nodes"
	VolumesUser = "devplane:volumes"
)

// StorageClass is the default class: claims become folders of this machine.
const StorageClass = "devplane"

// Provisioner is the name by which the StorageClass asks for volumes.
const Provisioner = "devplane.berth.dev/folder"

// Bootstrap creates the objects that every devplane has.
func (p *Plane) Bootstrap(ctx context.Context) error {
	client, err := p.Client()
	if err != nil {
		return err
	}
	sc := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: Provisioner,
	}
	_, err = client.StorageV1().StorageClasses().Create(ctx, sc, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return err
	}
	for _, b := range []struct {
		name, user string
		rules      []rbacv1.PolicyRule
	}{
		{NodesUser, NodesUser, nodesRules},
		{VolumesUser, VolumesUser, volumesRules},
		// The API server is no administrator to a kubelet: this is what reading logs, exec and
		// port-forward need.
		{KubeletClient, KubeletClient, []rbacv1.PolicyRule{{APIGroups: []string{""}, Verbs: []string{"*"},
			Resources: []string{"nodes/proxy", "nodes/stats", "nodes/log", "nodes/metrics", "nodes/healthz", "nodes/pods", "nodes/configz"}}}},
	} {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: b.name}, Rules: b.rules}
		_, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
		if err := ignoreExists(err); err != nil {
			return err
		}
		binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: b.name},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: b.user}}}
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
		if err := ignoreExists(err); err != nil {
			return err
		}
	}
	return nil
}

// nodesRules are what the agent uses and no more; list is client-go's fallback for servers
// without streaming lists.
var nodesRules = []rbacv1.PolicyRule{
	rule("", "nodes", "get", "list", "watch", "create", "patch"),
	rule("", "nodes/status", "patch"),
	rule("coordination.k8s.io", "leases", "get", "create", "update"),
	rule("", "pods", "list", "watch", "delete"),
	rule("", "pods/status", "patch"),
	rule("", "events", "create", "patch"),
	rule("", "secrets", "get"),
	rule("", "configmaps", "get"),
	rule("", "persistentvolumeclaims", "get"),
	rule("", "persistentvolumes", "get"),
	rule("", "serviceaccounts/token", "create"),
}

var volumesRules = []rbacv1.PolicyRule{
	rule("", "persistentvolumeclaims", "list", "watch"),
	rule("", "persistentvolumes", "list", "watch", "create", "delete"),
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
