package conformance

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// unschedulable waits until the scheduler says that a pod fits nowhere, and returns its words.
func unschedulable(t *testing.T, ns, name string) string {
	t.Helper()
	pod := cluster.Pod(t, ns, name, func(p *corev1.Pod) bool {
		return devplanetest.Condition(p, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable
	})
	phase(t, pod, corev1.PodPending)
	return devplanetest.Condition(pod, corev1.PodScheduled).Message
}

func TestPlainPodStaysPending(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	pod := podOf(t, `spec: {containers: [{name: step, command: ["true"]}]}`, "")
	pod.Spec.Tolerations, pod.Spec.NodeSelector = nil, nil
	cluster.Create(t, ns, pod)
	if m := unschedulable(t, ns, "pod"); !strings.HasPrefix(m, "0/4 nodes are available: 4 node(s) had untolerated taint(s)") {
		t.Errorf("the scheduler says %q", m)
	}
}

// sleeper is a pod that stays.
const sleeper = `
metadata: {name: NAME, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: step, command: [sleep, "1000"]RESOURCES}
MORE`

func sleepers(t *testing.T, ns, resources, more string, names ...string) {
	t.Helper()
	for _, name := range names {
		text := strings.NewReplacer("NAME", name, "RESOURCES", resources, "MORE", more).Replace(sleeper)
		cluster.Create(t, ns, podOf(t, text, process))
		cluster.Pod(t, ns, name, func(p *corev1.Pod) bool {
			return p != nil && (p.Status.Phase == corev1.PodRunning || devplanetest.Condition(p, corev1.PodScheduled).Reason == corev1.PodReasonUnschedulable)
		})
	}
}

func nodesOf(t *testing.T, ns string) map[string]int {
	t.Helper()
	pods, err := cluster.Client.CoreV1().Pods(ns).List(devplanetest.Context(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range pods.Items {
		count[p.Spec.NodeName]++
	}
	return count
}

func TestAntiAffinity(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	sleepers(t, ns, "", `
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}`, "a", "b", "c", "d")
	if m := unschedulable(t, ns, "d"); !strings.Contains(m, "didn't match pod anti-affinity rules") {
		t.Errorf("the scheduler says %q", m)
	}
	if got := nodesOf(t, ns); len(got) != 4 || got[""] != 1 {
		t.Errorf("pods by node: %v; want one on each of three", got)
	}
}

func TestTopologySpread(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	sleepers(t, ns, "", `
  topologySpreadConstraints:
  - {topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}`,
		"a", "b", "c", "d", "e", "f")
	for node, n := range nodesOf(t, ns) {
		if n != 2 {
			t.Errorf("%d pods on %q; want 2 on each of three", n, node)
		}
	}
}

func TestResourceShortage(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	gpu := `, resources: {limits: {nvidia.com/gpu: "1"}}`
	sleepers(t, ns, gpu, "", "a", "b", "c", "d")
	if m := unschedulable(t, ns, "d"); !strings.Contains(m, "Insufficient nvidia.com/gpu") {
		t.Errorf("the scheduler says %q", m)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	ns, ctx := cluster.Namespace(t), devplanetest.Context(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "pods"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	if _, err := cluster.Client.CoreV1().ResourceQuotas(ns).Create(ctx, quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := podOf(t, `spec: {containers: [{name: step, command: ["true"]}]}`, process)
	// Admission learns of a new quota by a watch, and refuses with other words until its use is
	// counted.
	devplanetest.Eventually(t, "create over the quota is answered with 403, exceeded quota", func() bool {
		_, err := cluster.Client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: pods")
	})
}

// as makes a client for a new ServiceAccount with a Role of the given rules.
func as(t *testing.T, ns string, rules ...rbacv1.PolicyRule) (kubernetes.Interface, string) {
	t.Helper()
	ctx, name := devplanetest.Context(t), "runner"
	meta := metav1.ObjectMeta{Name: name}
	if _, err := cluster.Client.CoreV1().ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Client.RbacV1().Roles(ns).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: name}}}
	if _, err := cluster.Client.RbacV1().RoleBindings(ns).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	user := "system:serviceaccount:" + ns + ":" + name
	cfg := rest.CopyConfig(cluster.Config)
	cfg.Impersonate.UserName = user
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client, user
}

// The Role has no delete: it is refused, and the audit log says who asked for what.
func TestRBACAndAudit(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	client, user := as(t, ns, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "create"}})
	ctx := devplanetest.Context(t)
	pod := podOf(t, `spec: {containers: [{name: step, command: ["true"]}]}`, process)
	// The authoriser learns of a new binding by a watch.
	devplanetest.Eventually(t, "the Role lets create", func() bool {
		_, err := client.CoreV1().Pods(ns).Create(ctx, pod, metav1.CreateOptions{})
		return err == nil
	})
	if err := client.CoreV1().Pods(ns).Delete(ctx, "pod", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("delete without the right: %v; want 403", err)
	}
	// An event is written after its answer was sent.
	devplanetest.Eventually(t, "the audit log has both calls", func() bool {
		created, refused := false, false
		for _, e := range audit(t) {
			if e.ImpersonatedUser == nil || e.ImpersonatedUser.Username != user || e.ObjectRef == nil || e.ObjectRef.Resource != "pods" {
				continue
			}
			decision := e.Annotations["authorization.k8s.io/decision"]
			created = created || e.Verb == "create" && decision == "allow" && e.RequestObject != nil && strings.Contains(string(e.RequestObject.Raw), `"step"`)
			refused = refused || e.Verb == "delete" && decision == "forbid"
		}
		return created && refused
	})
}

// audit reads the audit log so far.
func audit(t *testing.T) []auditv1.Event {
	t.Helper()
	f, err := os.Open(filepath.Join(cluster.Dir, "logs", "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var events []auditv1.Event
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		var e auditv1.Event
		if json.Unmarshal(s.Bytes(), &e) == nil { // the last line may be half written
			events = append(events, e)
		}
	}
	return events
}

// The parts of devplane itself ask for nothing that they have no right to.
func TestOwnRights(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	cluster.Create(t, ns, podOf(t, `spec: {containers: [{name: step, command: ["true"]}]}`, process))
	cluster.Pod(t, ns, "pod", devplanetest.Ended)
	seen := false
	for _, e := range audit(t) {
		if !strings.HasPrefix(e.User.Username, "devplane:") {
			continue
		}
		seen = true
		if e.Annotations["authorization.k8s.io/decision"] == "forbid" {
			t.Errorf("%s may not %s %s", e.User.Username, e.Verb, e.RequestURI)
		}
	}
	if !seen {
		t.Error("no request of devplane's own parts was found")
	}
}

func TestFlowControlHeaders(t *testing.T) {
	t.Parallel()
	var flow, level string
	cfg := rest.CopyConfig(cluster.Config)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			res, err := next.RoundTrip(r)
			if err == nil {
				flow, level = res.Header.Get("X-Kubernetes-Pf-Flowschema-Uid"), res.Header.Get("X-Kubernetes-Pf-Prioritylevel-Uid")
			}
			return res, err
		})
	})
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Namespaces().Get(devplanetest.Context(t), "default", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if flow == "" || level == "" {
		t.Errorf("flow schema %q, priority level %q; want both in the answer's headers", flow, level)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A field that the API server does not know is refused in its own words.
func TestStrictValidation(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"tolerationss":[],"containers":[{"name":"step","image":"i"}]}}`
	err := cluster.Client.CoreV1().RESTClient().Post().Namespace(ns).Resource("pods").Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(devplanetest.Context(t)).Error()
	if err == nil || !strings.Contains(err.Error(), `unknown field "spec.tolerationss"`) {
		t.Errorf("create: %v", err)
	}
}

func TestAnonymousIsRefused(t *testing.T) {
	t.Parallel()
	client, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(cluster.Config))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
		t.Errorf("without credentials: %v; want 401", err)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	v, err := cluster.Client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(v.GitVersion, "v1.") || v.Major != "1" || v.Minor == "" {
		t.Errorf("version %+v: kubectl can't parse it", v)
	}
}
