package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/test/cluster"
)

// batch is tolerated by the pods of these tests.
var batch = corev1.Toleration{Key: "workload-type", Operator: corev1.TolerationOpExists}

func whyPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	none := int64(0)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "a"}},
		Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{batch}, TerminationGracePeriodSeconds: &none,
			Containers: []corev1.Container{{Name: "c", Image: "busybox", Command: []string{"sleep", "100000"}}}}}
	for _, c := range change {
		c(p)
	}
	return p
}

func selects(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
}

func requests(name corev1.ResourceName, q string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{name: resource.MustParse(q)}
	}
}

var likeItself = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}

// alone keeps away from pods like itself, in the architecture's domain.
func alone(p *corev1.Pod) {
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
		{TopologyKey: "node-group", LabelSelector: likeItself}}}}
}

func spread(p *corev1.Pod) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "kubernetes.io/arch", MaxSkew: 1,
		WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: likeItself}}
}

// What is said to open a node does: with the rule taken away a pod that waits goes to one that was named.
func TestWhyUnlocksAreTrue(t *testing.T) {
	t.Parallel()
	c := settled(t)
	for _, test := range []struct {
		name    string
		there   []*corev1.Pod // that run already
		pod     func(...func(*corev1.Pod)) *corev1.Pod
		code    reason.Code
		without func(*corev1.Pod)
	}{
		{name: "node selector", pod: made(selects("tier", "nowhere")), code: reason.NodeSelector,
			without: func(p *corev1.Pod) { p.Spec.NodeSelector = nil }},
		{name: "one of two selectors", pod: made(selects("tier", "critical"), selects("node-group", "gpu")), code: reason.NodeSelector,
			without: func(p *corev1.Pod) { delete(p.Spec.NodeSelector, "tier") }},
		{name: "taint", pod: made(selects("tier", "critical")), code: reason.NodeTaint,
			without: func(p *corev1.Pod) {
				p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "tier", Operator: corev1.TolerationOpExists})
			}},
		{name: "resources", pod: made(requests("cpu", "500")), code: reason.Resources, without: requests("cpu", "1m")},
		{name: "gate", pod: made(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/g"}} }), code: reason.Gated,
			without: func(p *corev1.Pod) { p.Spec.SchedulingGates = nil }},
		{name: "host port", there: []*corev1.Pod{whyPod("port", hostPort, selects("node-group", "gpu"))}, pod: made(hostPort, selects("node-group", "gpu")), code: reason.HostPort,
			without: func(p *corev1.Pod) { p.Spec.Containers[0].Ports = nil }},
		{name: "anti-affinity to itself", there: []*corev1.Pod{whyPod("one", selects("node-group", "gpu"))}, pod: made(alone, selects("node-group", "gpu")), code: reason.AntiAffinitySelf,
			without: func(p *corev1.Pod) { p.Spec.Affinity = nil }},
		{name: "spread", there: []*corev1.Pod{whyPod("s", selects("kubernetes.io/arch", "arm64"))}, pod: made(spread, selects("kubernetes.io/arch", "arm64"), policyIgnore), code: reason.SpreadHard,
			without: func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = nil }},
		{name: "affinity", pod: made(func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "tier", Operator: "Gt", Values: []string{"5"}}}}}}}}
		}), code: reason.NodeAffinityRequired, without: func(p *corev1.Pod) { p.Spec.Affinity = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			namespace := c.Namespace(t)
			for _, p := range test.there {
				create(t, c, namespace, p)
				scheduled(t, c, namespace, p.Name)
			}
			create(t, c, namespace, test.pod())
			unschedulable(t, c, namespace, "p")
			r := whyJSON[explain.Report](t, c.Kubeconfig, "pod/p -n "+namespace)
			opened := map[string]bool{}
			found := false
			for _, u := range r.Unlocks {
				if len(u.Without) == 1 && r.Constraints[u.Without[0]].Code == test.code {
					found = true
					for _, n := range u.Nodes {
						opened[n] = true
					}
				}
			}
			if !found {
				t.Fatalf("%s unlocks nothing: %+v\n%+v", test.code, r.Unlocks, r.Constraints)
			}
			if err := c.Client.CoreV1().Pods(namespace).Delete(cluster.Context(t), "p", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			create(t, c, namespace, test.pod(test.without, func(p *corev1.Pod) { p.Name = "q" }))
			if node := scheduled(t, c, namespace, "q"); !opened[node] {
				t.Errorf("it went to %s, and %v were named", node, opened)
			}
		})
	}
}

func made(base ...func(*corev1.Pod)) func(...func(*corev1.Pod)) *corev1.Pod {
	return func(more ...func(*corev1.Pod)) *corev1.Pod { return whyPod("p", slices.Concat(base, more)...) }
}

func hostPort(p *corev1.Pod) {
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 18080}}
}

// policyIgnore has nodes of the other architecture count, which the selector excludes.
func policyIgnore(p *corev1.Pod) {
	ignore := corev1.NodeInclusionPolicyIgnore
	p.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = &ignore
}

func create(t *testing.T, c *cluster.Cluster, namespace string, p *corev1.Pod) {
	t.Helper()
	if _, err := c.Client.CoreV1().Pods(namespace).Create(cluster.Context(t), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// scheduled waits until the pod has a node.
func scheduled(t *testing.T, c *cluster.Cluster, namespace, name string) string {
	t.Helper()
	return watchPod(t, c, namespace, name, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }).Spec.NodeName
}

// unschedulable waits until the scheduler, or what stands before it, has said no.
func unschedulable(t *testing.T, c *cluster.Cluster, namespace, name string) {
	t.Helper()
	watchPod(t, c, namespace, name, func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(d corev1.PodCondition) bool {
			return d.Type == corev1.PodScheduled && d.Status == corev1.ConditionFalse
		})
	})
}

func watchPod(t *testing.T, c *cluster.Cluster, namespace, name string, holds func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	w, err := c.Client.CoreV1().Pods(namespace).Watch(cluster.Context(t), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if p, ok := e.Object.(*corev1.Pod); ok && holds(p) {
			return p
		}
	}
	t.Fatalf("pod %s did not get there", name)
	return nil
}

func whyJSON[T any](t *testing.T, kubeconfig, args string) T {
	t.Helper()
	stdout, _ := askWhy(t, exitOK, args+" -o json --kubeconfig "+kubeconfig)
	var r T
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Who may not read something is told so, and nothing that they may not see counts as free. A Role in one
// namespace is enough to ask about what is in it.
func TestWhyWithoutRights(t *testing.T) {
	t.Parallel()
	c := settled(t)
	namespace := c.Namespace(t)
	ctx := cluster.Context(t)
	create(t, c, namespace, whyPod("p"))
	scheduled(t, c, namespace, "p")
	one := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: likeItself}}
	if _, err := c.Client.PolicyV1().PodDisruptionBudgets(namespace).Create(ctx, budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kubeconfig := kubeconfigOf(t, c, namespace)
	// No right at all: there is no answer.
	if _, stderr := askWhy(t, exitNoService, "pod/p -n "+namespace+" --kubeconfig "+kubeconfig); !strings.Contains(stderr, `cannot list resource "pods"`) {
		t.Errorf("%s", stderr)
	}
	grant(t, c, namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	r := whyJSON[explain.Report](t, kubeconfig, "pod/p -n "+namespace)
	unknown := map[string]string{}
	for _, u := range r.NotKnown {
		unknown[u.What] = u.Why
	}
	for _, what := range []string{"nodes", "pods", "poddisruptionbudgets", "persistentvolumes", "persistentvolumeclaims", "replicasets", "storageclasses"} {
		if !strings.HasPrefix(unknown[what], "no right to list them") {
			t.Errorf("%s: %q", what, unknown[what])
		}
	}
	if !r.Incomplete || len(r.Nodes) != 0 || len(r.Now.Pods) != 1 || r.Now.Pods[0].Node == "" {
		t.Errorf("%+v", r)
	}
	// With nodes, and without the pods of others, no node counts as fitting.
	grantEverywhere(t, c, namespace, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}})
	r = whyJSON[explain.Report](t, kubeconfig, "pod/p -n "+namespace)
	if len(r.Nodes) == 0 {
		t.Errorf("no nodes: %+v", r.NotKnown)
	}
	for _, n := range r.Nodes {
		if n.Fits || len(n.Reasons) == 0 && !slices.Contains(n.NotKnown, "pods") {
			t.Errorf("%+v", n)
		}
	}
	table, _ := askWhy(t, exitOK, "pod/p -n "+namespace+" --kubeconfig "+kubeconfig)
	for _, want := range []string{"not known  ", "would fit 0 of", "no right to list them in all namespaces", "no right to list them in the namespace " + namespace} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	// With the budgets of the namespace they are known.
	grant(t, c, namespace, rbacv1.PolicyRule{APIGroups: []string{"policy"}, Resources: []string{"poddisruptionbudgets"}, Verbs: []string{"list"}})
	r = whyJSON[explain.Report](t, kubeconfig, "pod/p -n "+namespace)
	if !slices.ContainsFunc(r.Moving, func(k explain.Constraint) bool { return k.Code == reason.PDBNever }) {
		t.Errorf("%+v\n%+v", r.Moving, r.NotKnown)
	}
}

// grant lets the namespace's account do something there.
func grant(t *testing.T, c *cluster.Cluster, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	ctx := cluster.Context(t)
	name := rule.Resources[0]
	if _, err := c.Client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}}}
	if _, err := c.Client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	allowed(t, c, namespace, namespace, rule)
}

// grantEverywhere lets the namespace's account do something in the whole cluster.
func grantEverywhere(t *testing.T, c *cluster.Cluster, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	ctx := cluster.Context(t)
	name := namespace + "-" + rule.Resources[0]
	if _, err := c.Client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{rule}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}}}
	if _, err := c.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cluster.Limit)
		defer cancel()
		_ = c.Client.RbacV1().ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{})
		_ = c.Client.RbacV1().ClusterRoles().Delete(ctx, name, metav1.DeleteOptions{})
	})
	allowed(t, c, namespace, "", rule)
}

// allowed waits until the API server's authorizer knows.
func allowed(t *testing.T, c *cluster.Cluster, account, namespace string, rule rbacv1.PolicyRule) {
	t.Helper()
	cluster.Eventually(t, "the account may list "+rule.Resources[0], func() bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "system:serviceaccount:" + account + ":default",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: rule.APIGroups[0], Resource: rule.Resources[0], Namespace: namespace}}}
		review, err := c.Client.AuthorizationV1().SubjectAccessReviews().Create(cluster.Context(t), review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	})
}

// Asked of the cluster and of a dump of it, the answer is the same; and the scheduler's own words are in it.
func TestWhyCluster(t *testing.T) {
	t.Parallel()
	c := settled(t)
	namespace := c.Namespace(t)
	create(t, c, namespace, whyPod("w", selects("tier", "nowhere")))
	unschedulable(t, c, namespace, "w")
	args := "--pending -n " + namespace
	dump := t.TempDir() + "/dump.json"
	asked := whyJSON[explain.Pending](t, c.Kubeconfig, args+" --dump "+dump)
	stdout, _ := askWhy(t, exitOK, args+" -o json -f "+dump)
	var read explain.Pending
	if err := json.Unmarshal([]byte(stdout), &read); err != nil {
		t.Fatal(err)
	}
	if asked.Pods != 1 || len(asked.Causes) != 1 || asked.Causes[0].Code != reason.NodeSelector || asked.Causes[0].Message != read.Causes[0].Message {
		t.Errorf("%+v\n%+v", asked, read)
	}
	if w := asked.Causes[0].Workloads[0]; !strings.Contains(w.Scheduler, "nodes are available") {
		t.Errorf("the scheduler's words: %q", w.Scheduler)
	}
	if asked.Incomplete {
		t.Errorf("incomplete for an administrator: %+v", asked.NotKnown)
	}
}
