package kube

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

// audited gives the requests of a user.
func audited(t *testing.T, c *cluster.Cluster, user string) []cluster.Request {
	t.Helper()
	return c.Audited(t, user, func(q cluster.Request) bool { return q.User.Username == user })
}

// guest makes a service account with the Role of the chart, and starts an executor as that.
func guest(t *testing.T) (r *rig, user string, role *rbacv1.Role) {
	t.Helper()
	c := shared.Get(t)
	namespace, ctx := c.Namespace(t), cluster.Context(t)
	data, err := os.ReadFile("../../../charts/berth/files/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var untyped any
	if err := yaml.Unmarshal(data, &untyped); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(untyped); err != nil {
		t.Fatal(err)
	}
	role = &rbacv1.Role{}
	if err := json.Unmarshal(data, role); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "berth"}}
	if _, err := c.Client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "berth"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "berth", Namespace: namespace}}}
	if _, err := c.Client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	user = "system:serviceaccount:" + namespace + ":berth"
	token, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "berth", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(c.Config)
	config.QPS, config.Burst, config.BearerToken = c.Config.QPS, c.Config.Burst, token.Status.Token
	r = &rig{Cluster: c, t: t, clients: clients(t, config)}
	cluster.Eventually(t, "rights of the service account", func() bool {
		err := pods(r.clients.Watch, namespace).get(ctx, "none", &corev1.Pod{})
		return apierrors.IsNotFound(err)
	})
	r.begin(namespace, fmt.Sprintf("01TEST%020d", number.Add(1)))
	return r, user, role
}

// Whatever the executor does it does with the Role of the chart, and with all of it: each verb that the Role
// grants is used, and no request is forbidden.
func TestRights(t *testing.T) {
	t.Parallel()
	r, user, role := guest(t)
	ctx := cluster.Context(t)
	p := made(t, "process", `
workspace: {size: 1Gi}
defaults: {image: "devplane/busybox:1", resources: {cpu: 10m, memory: 16Mi}}
steps: [{name: one, run: "echo hello"}, {name: two, run: "sleep 600"}]
`)
	id := newRun()
	one, two := of(p, id, 0, 1), of(p, id, 1, 1)
	r.Start(one)
	r.Start(two)
	r.untilPhase(one.Ref, run.PhaseEnded)
	r.untilPhase(two.Ref, run.PhaseRunning)
	log, err := r.Log(ctx, one.Ref, "", false)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, log)
	log.Close()
	r.restart()
	r.Start(of(p, id, 1, 2)) // of a run whose claim exists: it is asked for
	r.untilPhase(of(p, id, 1, 2).Ref, run.PhaseRunning)
	r.Confirm(run.Ref{Run: id, Step: "one", Attempt: 7}, "")
	r.untilPhase(run.Ref{Run: id, Step: "one", Attempt: 7}, run.PhaseGone)
	// A list is what client-go falls back to where it can't have one as a watch.
	if err := pods(r.clients.Watch, r.Executor.Namespace).list(ctx, metav1.ListOptions{}, &corev1.PodList{}); err != nil {
		t.Error(err)
	}
	r.reapAll(one.Ref, two.Ref, of(p, id, 1, 2).Ref)
	if err := r.FinishRun(ctx, id); err != nil {
		t.Error(err)
	}
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted[verb+" "+resource] = false
			}
		}
	}
	for _, q := range audited(t, r.Cluster, user) {
		if q.Denied() && q.Verb != "get" { // by which the test waits
			t.Errorf("forbidden: %s", q.What())
		}
		if _, known := granted[q.What()]; !known {
			t.Errorf("the Role does not grant %s", q.What())
		}
		granted[q.What()] = true
	}
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		if !granted[right] {
			t.Errorf("the Role grants %s, and nothing used it", right)
		}
	}
}

// Three hundred steps at once cost one create, one delete and one log each, and a single watch in all.
func TestRequests(t *testing.T) {
	t.Parallel()
	const steps = 300
	r, user, _ := guest(t)
	before := counts(audited(t, r.Cluster, user))
	all := make([]executor.Attempt, steps)
	for i := range all {
		all[i] = attempt1(t, "scale", `run: "true"`)
	}
	for _, a := range all {
		r.Start(a)
	}
	for _, a := range all {
		if o := r.untilPhase(a.Ref, run.PhaseEnded); o.End == nil || o.End.Class != run.Success {
			t.Fatalf("%+v %+v", o, o.End)
		}
		if log, err := r.Log(cluster.Context(t), a.Ref, "", false); err == nil {
			_, _ = io.Copy(io.Discard, log)
			log.Close()
		}
		r.Stop(executor.Stop{Ref: a.Ref})
	}
	for _, a := range all {
		r.untilPhase(a.Ref, run.PhaseGone)
		if err := r.FinishRun(cluster.Context(t), a.Run); err != nil {
			t.Error(err)
		}
	}
	got := audited(t, r.Cluster, user)
	have := counts(got)
	lists := 0
	for _, q := range got {
		if strings.Contains(q.RequestURI, "sendInitialEvents=true") {
			lists++
		}
	}
	// An API server closes the watches of a machine that is too busy to send: the client goes on from where it
	// was. It asks for the whole list again, and for what is not in it, if it had seen nothing yet.
	watches := have["watch pods"]
	delete(have, "watch pods")
	if lists > 1 {
		t.Logf("listed %d times in %d watches", lists, watches)
		have["get pods"] = before["get pods"]
	}
	want := map[string]int{"create pods": steps, "delete pods": steps, "get pods/log": steps, "get pods": before["get pods"]}
	if !maps.Equal(have, want) || watches > steps/3 {
		t.Errorf("%v and %d watches, want %v", have, watches, want)
	}
	r.lawful()
}

func counts(all []cluster.Request) map[string]int {
	n := map[string]int{}
	for _, q := range all {
		n[q.What()]++
	}
	return n
}

// Who may not watch can do nothing, and trying again does not help.
func TestForbidden(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	config := rest.AnonymousClientConfig(c.Config)
	token, err := c.Client.CoreV1().ServiceAccounts("default").CreateToken(cluster.Context(t), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config.BearerToken = token.Status.Token
	e := New(Options{Clients: clients(t, config), Namespace: "default", Instance: "01TEST"})
	if err := e.Run(cluster.Context(t), newRecorder()); !apierrors.IsForbidden(err) {
		t.Error(err)
	}
}
