package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/test/cluster"
)

// settled gives the shared cluster once the node controller has taken away the taints of nodes that have
// just become ready, which is a moment after that.
func settled(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := shared.Get(t)
	ctx := cluster.Context(t)
	w, err := c.Client.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{}) // begins with what is there
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	list, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waiting := map[string]bool{}
	for _, n := range list.Items {
		waiting[n.Name] = true
	}
	for e := range w.ResultChan() {
		n, ok := e.Object.(*corev1.Node)
		if ok && !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, "node.kubernetes.io/") }) {
			delete(waiting, n.Name)
		}
		if len(waiting) == 0 {
			return c
		}
	}
	t.Fatalf("nodes keep their taints: %v", waiting)
	return nil
}

// checkJSON gives what a command line of check prints.
func checkJSON(t *testing.T, wantCode int, args ...string) checked {
	t.Helper()
	stdout, stderr, code := berth(append([]string{"check", "-o", "json"}, args...)...)
	var got checked
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != wantCode {
		t.Fatalf("exit code %d, want %d, %v\n%s%s", code, wantCode, err, stderr, stdout)
	}
	return got
}

func ofFile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "operator.yaml", text)
	return filepath.Join(dir, "operator.yaml")
}

// A cluster and a file that has the same nodes give the same verdicts, and the API server takes each pod.
func TestCheckCluster(t *testing.T) {
	t.Parallel()
	c := settled(t)
	args := []string{"--operator", acmeOperator, "--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace(t)}
	asked := checkJSON(t, exitOK, args...)
	read := checkJSON(t, exitOK, "--operator", acmeOperator, "--nodes", sharedNodes)
	if len(asked.Profiles) != 7 || len(asked.Profiles) != len(read.Profiles) {
		t.Fatalf("%d profiles, and %d", len(asked.Profiles), len(read.Profiles))
	}
	for i, p := range asked.Profiles {
		if p.DryRun == nil || !p.DryRun.Accepted {
			t.Errorf("%s: dry run: %+v", p.Name, p.DryRun)
		}
		if got, want := verdict(p), verdict(read.Profiles[i]); got != want {
			t.Errorf("%s: of the cluster\n%s\nof the file\n%s", p.Name, got, want)
		}
	}
	if asked.Findings.Len() > 0 {
		t.Errorf("findings:\n%s", asked.Findings.Text(nil))
	}
	stdout, stderr, code := berth(append([]string{"check"}, args...)...)
	if code != exitOK || !strings.Contains(stdout, "PROFILE     NODES   DRY RUN   WHERE\n(baseline)  3 of 6  accepted  on general-amd64-0, ") && !strings.Contains(stdout, "(baseline)  3 of 6  accepted  on gpu-amd64-0") {
		t.Errorf("exit code %d, %s%s", code, stderr, stdout)
	}
}

// verdict is what is said of nodes, without the order in which they are there.
func verdict(p checkedProfile) string {
	lines := []string{"on " + strings.Join(slices.Sorted(slices.Values(p.Nodes)), " ")}
	for _, b := range p.Blocked {
		for _, n := range b.Nodes {
			lines = append(lines, fmt.Sprintf("not on %s: %v", n, b.Reasons))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The nodes that are made of a file of pools carry what devplane's nodes do, which are made of the same file.
func TestPoolsAreDevplanes(t *testing.T) {
	t.Parallel()
	c := settled(t)
	text, err := os.ReadFile(sharedNodes)
	if err != nil {
		t.Fatal(err)
	}
	read, findings := pools(sharedNodes, text)
	if findings.Len() > 0 {
		t.Fatal(findings.Text(nil))
	}
	if len(read.there) != 6 || len(read.empty) != 1 {
		t.Errorf("%d nodes, %d empty pools", len(read.there), len(read.empty))
	}
	for _, want := range read.there {
		got, err := c.Client.CoreV1().Nodes().Get(cluster.Context(t), want.Name, metav1.GetOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		if !maps.Equal(got.Labels, want.Labels) {
			t.Errorf("%s: labels\n%v, want\n%v", want.Name, want.Labels, got.Labels)
		}
		if !slices.Equal(got.Spec.Taints, want.Spec.Taints) {
			t.Errorf("%s: taints\n%v, want\n%v", want.Name, want.Spec.Taints, got.Spec.Taints)
		}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "pods", "nvidia.com/gpu"} {
			is, has := got.Status.Allocatable[name], want.Status.Allocatable[name]
			if is.Cmp(has) != 0 {
				t.Errorf("%s: %s %s, want %s", want.Name, name, has.String(), is.String())
			}
		}
	}
}

// The scheduler is the judge: a profile's pod, tied to one node after the other without naming it in
// nodeName, is bound where check says that it can land, and nowhere else.
func TestCheckIsRight(t *testing.T) {
	t.Parallel()
	c := settled(t)
	namespace := c.Namespace(t)
	got := checkJSON(t, exitOK, "--operator", acmeOperator, "--kubeconfig", c.Kubeconfig, "--namespace", namespace)
	text, err := os.ReadFile(acmeOperator)
	if err != nil {
		t.Fatal(err)
	}
	operator, findings := profile.Load(acmeOperator, text)
	if operator == nil {
		t.Fatal(findings.Text(nil))
	}
	want := map[string]bool{} // of pods, whether they fit
	placed := map[string]bool{}
	for i, p := range got.Profiles {
		fits := map[string]bool{}
		for _, n := range p.Nodes {
			fits[n] = true
		}
		for _, b := range p.Blocked {
			for _, n := range b.Nodes {
				fits[n] = false
			}
		}
		if len(fits) != 6 {
			t.Errorf("%s: %d nodes", p.Name, len(fits))
		}
		for node, fit := range fits {
			name := fmt.Sprintf("p%d-%s", i, node)
			want[name] = fit
			createOn(t, c, namespace, operator, p.Profiles, name, node)
		}
		name := fmt.Sprintf("p%d", i)
		want[name] = len(p.Nodes) > 0
		createOn(t, c, namespace, operator, p.Profiles, name, "")
	}
	w, err := c.Client.CoreV1().Pods(namespace).Watch(cluster.Context(t), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			continue
		}
		unschedulable := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
		})
		if pod.Spec.NodeName != "" || unschedulable {
			placed[pod.Name] = pod.Spec.NodeName != ""
		}
		if len(placed) == len(want) {
			break
		}
	}
	for name, fits := range want {
		if is, known := placed[name]; !known || is != fits {
			t.Errorf("%s: fits %v, bound %v, decided %v", name, fits, is, known)
		}
	}
}

// createOn creates the sample pod, tied to a node if one is given.
func createOn(t *testing.T, c *cluster.Cluster, namespace string, operator *profile.File, profiles []string, name, node string) {
	t.Helper()
	step, _ := plan.Sample(operator, profiles)
	untyped, err := podspec.Pod(&step, podspec.Facts{Namespace: namespace, Instance: noRun, Run: noRun, Attempt: 1, Fence: 1})
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(untyped, pod); err != nil {
		t.Fatal(err)
	}
	pod.Name = name
	if node != "" {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}}}
	}
	if _, err := c.Client.CoreV1().Pods(namespace).Create(cluster.Context(t), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// What the API server refuses is said in its words; what it drops and what it warns of, with the place in
// the operator file.
func TestCheckDryRun(t *testing.T) {
	t.Parallel()
	c := settled(t)
	operator := ofFile(t, `version: 1
baseline:
  k8s:
    tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]
    nodeSelector: {kubernetes.io/os: linux}
  resources: {cpu: 100m, memory: 64Mi}
placement_profiles:
  - name: good
    k8s: {}
  - name: newer
    k8s: {fieldFromTheFuture: 1}
  - name: nonsense
    k8s: {priorityClassName: no-such-class}
  - name: stopping
    k8s:
      os: {name: linux}
      containers: [{name: step, lifecycle: {stopSignal: SIGINT}}]
  - name: wordy
    k8s:
      nodeSelector: {beta.kubernetes.io/os: linux}
`)
	args := []string{"--operator", operator, "--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace(t)}
	got := checkJSON(t, exitFailed, args...)
	for i, want := range []struct {
		accepted bool
		message  string
		findings string
	}{
		{true, "", ""},
		{true, "", ""},
		{false, `unknown field "spec.fieldFromTheFuture"`, `:10:11: error: the API server refuses a pod with the profile newer: `},
		{false, "no PriorityClass with name no-such-class was found", `:12:11: error: the API server refuses a pod with the profile nonsense: `},
		{false, "not stored: spec.containers[step].lifecycle", `:17:33: error: the API server accepts spec.containers[step].lifecycle and does not store it; profile stopping sets {"stopSignal":"SIGINT"} (field_dropped)`},
		{true, "", `:18:11: note: the API server warns: spec.nodeSelector[beta.kubernetes.io/os]: deprecated`},
	} {
		p := got.Profiles[i]
		text := p.Findings.Text(nil)
		if p.DryRun.Accepted != want.accepted || !strings.Contains(p.DryRun.Message, want.message) || !strings.Contains(text, want.findings) || (want.findings == "") != (text == "") {
			t.Errorf("%s: %+v\n%swant %+v", p.Name, *p.DryRun, text, want)
		}
		if len(p.Nodes) != 5 {
			t.Errorf("%s: fits %v", p.Name, p.Nodes)
		}
	}
	stdout, stderr, code := berth(append([]string{"check"}, args...)...)
	for _, want := range []string{"accepted", "refused", "loses fields", "not stored: spec.containers[step].lifecycle"} {
		if !strings.Contains(stdout, want) || code != exitFailed {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, stderr, stdout)
		}
	}
}

// The nodes are those for the pod as it would be stored: what admission adds counts.
func TestCheckSeesWhatAdmissionAdds(t *testing.T) {
	t.Parallel()
	c := settled(t)
	namespace := c.Namespace(t)
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{"cpu": resource.MustParse("12")}, Default: corev1.ResourceList{"cpu": resource.MustParse("12")}}}}}
	if _, err := c.Client.CoreV1().LimitRanges(namespace).Create(cluster.Context(t), limits, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	operator := ofFile(t, "version: 1\nbaseline:\n  k8s: {tolerations: [{key: workload-type, operator: Exists}]}\n")
	got := checkJSON(t, exitOK, "--operator", operator, "--kubeconfig", c.Kubeconfig, "--namespace", namespace)
	if nodes := strings.Join(slices.Sorted(slices.Values(got.Profiles[0].Nodes)), " "); nodes != "general-arm64-0 general-arm64-1 gpu-amd64-0" {
		t.Errorf("nodes with 12 CPUs: %s", nodes)
	}
}

// Whoever lacks a right is told which, and how it is granted.
func TestCheckWithoutRights(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ctx := cluster.Context(t)
	namespace := c.Namespace(t)
	kubeconfig := kubeconfigOf(t, c, namespace)
	wants := func(words ...string) {
		t.Helper()
		stdout, stderr, code := berth("check", "--operator", acmeOperator, "--kubeconfig", kubeconfig, "--namespace", namespace)
		if code != exitNoService || stdout != "" {
			t.Errorf("exit code %d, stdout %q", code, stdout)
		}
		for _, w := range words {
			if !strings.Contains(stderr, w) {
				t.Errorf("no %q in\n%s", w, stderr)
			}
		}
	}
	wants(`cannot list resource "nodes"`, "You need the right to list nodes", "--verb=list --resource=nodes", "berth check --nodes FILE")
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list"}}}
	role, err := c.Client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}}}
	if _, err := c.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cluster.Limit)
		defer cancel()
		_ = c.Client.RbacV1().ClusterRoleBindings().Delete(ctx, namespace, metav1.DeleteOptions{})
		_ = c.Client.RbacV1().ClusterRoles().Delete(ctx, namespace, metav1.DeleteOptions{})
	})
	cluster.Eventually(t, "the account may list nodes", func() bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + namespace + ":default",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"}}}
		review, err := c.Client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return review.Status.Allowed
	})
	wants(`cannot create resource "pods"`, "You need the right to create pods in the namespace "+namespace, "--verb=create --resource=pods")
}

// kubeconfigOf is a kubeconfig of the namespace's own service account, which may do nothing.
func kubeconfigOf(t *testing.T, c *cluster.Cluster, namespace string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	token, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(cluster.Context(t), "default", request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": c.Config.Host,
			"certificate-authority-data": c.Config.CAData, "certificate-authority": c.Config.CAFile}}},
		"users": []any{map[string]any{"name": "u", "user": map[string]any{"token": token.Status.Token}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "kubeconfig", string(data))
	return filepath.Join(dir, "kubeconfig")
}
