package command

import (
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/test/cluster"
)

// audited gives the requests of the program as a user.
func audited(t *testing.T, c *cluster.Cluster, u *user) []cluster.Request {
	t.Helper()
	return c.Audited(t, u.name, func(q cluster.Request) bool {
		return q.User.Username == u.name && strings.HasPrefix(q.UserAgent, "berth-observer/")
	})
}

// held compares requests with rules, both ways: nothing that is not granted, and everything that is.
func held(t *testing.T, all []cluster.Request, rules []rbacv1.PolicyRule) {
	t.Helper()
	granted := map[string]bool{}
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted[verb+" "+resource] = false
			}
		}
	}
	for _, q := range all {
		if q.Denied() {
			t.Errorf("forbidden: %s", q.What())
		}
		if _, known := granted[q.What()]; !known {
			t.Errorf("%s is not granted", q.What())
		}
		granted[q.What()] = true
	}
	for _, right := range slices.Sorted(maps.Keys(granted)) {
		if !granted[right] {
			t.Errorf("%s is granted, and nothing used it", right)
		}
	}
}

// What the program does in a cluster it does with the chart's rights, and with all of them: it watches, and lists
// where it can't have a list as a watch. A start is one request for each resource, and goes on as one.
func TestRights(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	u := newUser(t, c)
	granted := rules(t, "rules-cluster.yaml")
	u.grant(t, c, granted)
	s := runOnce(t, u.kubeconfig)
	for _, from := range s.Coverage.Sources {
		if !from.Synced || from.Failing != "" {
			t.Errorf("%+v", from)
		}
	}
	all := audited(t, c, u)
	if n := len(all); n != 9 {
		t.Errorf("%d requests for a start", n)
	}
	for _, q := range all {
		if q.Verb != "watch" {
			t.Errorf("a start does %s", q.What())
		}
	}
	paged := runOnce(t, u.kubeconfig, "--paged")
	held(t, audited(t, c, u), granted)
	if s.Coverage.NamespaceOptOut != v1.OptOutEvaluated || paged.Coverage.Nodes != 3 || len(paged.Coverage.Sources) != 9 {
		t.Errorf("%+v, %+v", s.Coverage, paged.Coverage)
	}
}

// The same in namespaces: rights in two of them, and on nodes. What it can't see it says.
func TestRightsInNamespaces(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	u := newUser(t, c)
	one, two, other := c.Namespace(t), c.Namespace(t), c.Namespace(t)
	for _, ns := range []string{one, two, other} {
		apply(t, c, ns, strings.Replace(onePod, "NAME", "p", 1))
		pods(t, c, ns, "", 1, isRunning)
	}
	granted := rules(t, "rules-namespace.yaml")
	u.grantIn(t, c, one, granted)
	u.grantIn(t, c, two, granted)
	args := []string{"--namespace", one, "--namespace", two}

	s := runOnce(t, u.kubeconfig, args...)
	if len(s.of(one, "Pod", "p")) != 1 || len(s.of(two, "Pod", "p")) != 1 || len(s.Workloads.Records) != 2 {
		t.Errorf("%+v", s.Workloads.Records)
	}
	if n := source(&s.Coverage, "nodes"); n.Failing != v1.FailingForbidden || n.Synced || len(s.Nodes.Nodes) != 0 {
		t.Errorf("%+v, %+v", n, s.Nodes)
	}
	if p := source(&s.Coverage, "pods"); p.Watches != 2 || !p.Synced || s.Coverage.NamespaceOptOut != v1.OptOutNotEvaluated || s.Coverage.Config.Mode != v1.ModeNamespaces {
		t.Errorf("%+v, %+v", p, s.Coverage)
	}

	with := newUser(t, c)
	with.grantIn(t, c, one, granted)
	with.grantIn(t, c, two, granted)
	nodes := rules(t, "rules-nodes.yaml")
	with.grant(t, c, nodes)
	s = runOnce(t, with.kubeconfig, args...)
	runOnce(t, with.kubeconfig, append(args, "--paged")...)
	if len(s.Nodes.Nodes) != 3 {
		t.Errorf("%+v", s.Nodes)
	}
	held(t, audited(t, c, with), append(slices.Clone(granted), nodes...))
}

// Without rights on what is optional the program does its work, and says what it could not see.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	apply(t, c, ns, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`)
	p := pods(t, c, ns, "a=b", 1, isRunning)[0]
	u := newUser(t, c)
	u.grant(t, c, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}}})
	s := runOnce(t, u.kubeconfig)
	set := p.OwnerReferences[0].Name
	if r := s.of(ns, "ReplicaSet", set); len(r) != 1 || s.Coverage.OwnersUnresolved == 0 {
		t.Errorf("%+v, %+v", r, s.Coverage)
	}
	for _, from := range s.Coverage.Sources {
		if from.Synced != (from.Resource == "pods") || (from.Failing == v1.FailingForbidden) == from.Synced {
			t.Errorf("%+v", from)
		}
	}
	if s.Coverage.NamespaceOptOut != v1.OptOutNotEvaluated {
		t.Errorf("%+v", s.Coverage)
	}

	nobody := newUser(t, c)
	out, stderr, code := program(t, "--once", "--kubeconfig", nobody.kubeconfig)
	if code != exitNoService || !strings.Contains(stderr, "no right to list pods") || !strings.Contains(out, `"resource":"pods","watches":1,"synced":false,"failing":"forbidden"`) {
		t.Errorf("%d\n%s\n%s", code, stderr, out)
	}
}
