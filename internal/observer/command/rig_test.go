package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/test/cluster"
)

const chart = "../../../charts/berth-observer/"

// said is what the program said in one go.
type said struct {
	Workloads v1.WorkloadMetadata
	Nodes     v1.NodeMetadata
	Coverage  v1.Coverage
	Bytes     []byte // of all of it
}

// runOnce runs the program with --once.
func runOnce(t *testing.T, kubeconfig string, args ...string) *said {
	t.Helper()
	out, stderr, code := program(t, append([]string{"--once", "--kubeconfig", kubeconfig}, args...)...)
	if code != exitOK {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(out, "\n"), "\n") {
		valid(t, line)
	}
	s := &said{Bytes: append([]byte(out), stderr...)}
	d := json.NewDecoder(strings.NewReader(out))
	if err := errors.Join(d.Decode(&s.Workloads), d.Decode(&s.Nodes), d.Decode(&s.Coverage)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return s
}

// valid holds a payload to the schema of its kind.
func valid(t *testing.T, payload string) {
	t.Helper()
	var e v1.Envelope
	if err := json.Unmarshal([]byte(payload), &e); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(v1.JSONSchema(e.Kind)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(e.Kind, schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(e.Kind)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, payload)
	}
}

// program runs the program to its end.
func program(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(cluster.Context(t), "berth-observer", args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

// of gives the records of a workload.
func (s *said) of(namespace, kind, name string) []v1.Record {
	var all []v1.Record
	for _, r := range s.Workloads.Records {
		if r.Namespace == namespace && r.WorkloadKind == kind && r.WorkloadName == name {
			all = append(all, r)
		}
	}
	return all
}

// source is what coverage says of a resource.
func source(c *v1.Coverage, resource string) v1.Source {
	for _, s := range c.Sources {
		if s.Resource == resource {
			return s
		}
	}
	return v1.Source{}
}

// running is the program at work, with a spool.
type running struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	stderr *cluster.Output
}

// start runs the program until the test ends, writing every second.
func start(t *testing.T, kubeconfig, config string, args ...string) *running {
	t.Helper()
	r := &running{t: t, dir: t.TempDir(), stderr: &cluster.Output{}}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("version: 1\ninterval: {min: 1s, max: 1h}\n"+config), 0o600); err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command("berth-observer", append([]string{"--kubeconfig", kubeconfig, "--config", file, "--spool", r.dir}, args...)...)
	r.cmd.Stderr = r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	return r
}

func (r *running) stop() {
	if r.cmd.ProcessState != nil {
		return
	}
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	if err := r.cmd.Wait(); err != nil {
		r.t.Errorf("the observer ended: %v\n%s", err, r.stderr)
	}
}

// config writes the configuration anew.
func (r *running) config(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.cmd.Args[4], []byte("version: 1\ninterval: {min: 1s, max: 1h}\n"+text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// latest reads what is in the spool. What is not there yet is zero.
func (r *running) latest() *said {
	r.t.Helper()
	s := &said{}
	for kind, into := range map[string]any{v1.KindWorkloads: &s.Workloads, v1.KindNodes: &s.Nodes, v1.KindCoverage: &s.Coverage} {
		data, err := os.ReadFile(filepath.Join(r.dir, kind+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			r.t.Fatal(err)
		}
		s.Bytes = append(s.Bytes, data...)
	}
	return s
}

// until waits until what is in the spool is as wanted.
func (r *running) until(what string, wanted func(*said) bool) *said {
	r.t.Helper()
	var s *said
	defer func() {
		if r.t.Failed() && s != nil {
			r.t.Logf("%s\n%s", s.Bytes, r.stderr)
		}
	}()
	cluster.Eventually(r.t, what, func() bool { s = r.latest(); return wanted(s) })
	return s
}

// rules reads rules of the chart.
func rules(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	data, err := os.ReadFile(chart + "files/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var untyped any
	if err := yaml.Unmarshal(data, &untyped); err != nil {
		t.Fatal(err)
	}
	var made []rbacv1.PolicyRule
	if data, err = json.Marshal(untyped); err == nil {
		err = json.Unmarshal(data, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// user is a service account, and a kubeconfig for it.
type user struct {
	name       string // as the API server knows it
	kubeconfig string
	subject    rbacv1.Subject
}

// newUser makes a service account without rights.
func newUser(t *testing.T, c *cluster.Cluster) *user {
	t.Helper()
	ctx, namespace := cluster.Context(t), c.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "observer"}}
	if _, err := c.Client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := c.Client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "observer", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData, CertificateAuthority: c.Config.CAFile}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "x"
	u := &user{name: "system:serviceaccount:" + namespace + ":observer", kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		subject: rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: "observer", Namespace: namespace}}
	if err := clientcmd.WriteToFile(*config, u.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return u
}

// grant gives the user rights in the cluster, until the test ends or they are taken.
func (u *user) grant(t *testing.T, c *cluster.Cluster, rules []rbacv1.PolicyRule) (take func()) {
	t.Helper()
	ctx := cluster.Context(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "observer-"}, Rules: rules}
	role, err := c.Client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}, Subjects: []rbacv1.Subject{u.subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}}
	if _, err := c.Client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	take = sync.OnceFunc(func() {
		ctx := context.Background()
		err := errors.Join(c.Client.RbacV1().ClusterRoleBindings().Delete(ctx, role.Name, metav1.DeleteOptions{}),
			c.Client.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{}))
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(take)
	u.wait(t, c, "", rules)
	return take
}

// grantIn gives the user rights in a namespace.
func (u *user) grantIn(t *testing.T, c *cluster.Cluster, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	ctx := cluster.Context(t)
	name := "observer-" + u.subject.Namespace
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := c.Client.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: []rbacv1.Subject{u.subject},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}}
	if _, err := c.Client.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.wait(t, c, namespace, rules)
}

// wait waits until the API server knows of the user's rights.
func (u *user) wait(t *testing.T, c *cluster.Cluster, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", u.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	k := clientOf(t, config)
	last := rules[len(rules)-1]
	ask := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: last.Verbs[0], Group: last.APIGroups[0], Resource: last.Resources[0]}}}
	cluster.Eventually(t, "rights of "+u.name, func() bool {
		answer, err := k.AuthorizationV1().SelfSubjectAccessReviews().Create(cluster.Context(t), ask, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed
	})
}

// apply creates the pods of a manifest, and gives their names.
func apply(t *testing.T, c *cluster.Cluster, namespace, text string) {
	t.Helper()
	ctx := cluster.Context(t)
	for _, doc := range strings.Split(text, "\n---\n") {
		var untyped map[string]any
		if err := yaml.Unmarshal([]byte(doc), &untyped); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(untyped)
		if err != nil {
			t.Fatal(err)
		}
		path := map[string]string{"Pod": "api/v1/%s/pods", "Deployment": "apis/apps/v1/%s/deployments", "DaemonSet": "apis/apps/v1/%s/daemonsets",
			"StatefulSet": "apis/apps/v1/%s/statefulsets", "CronJob": "apis/batch/v1/%s/cronjobs", "Job": "apis/batch/v1/%s/jobs"}[untyped["kind"].(string)]
		err = c.Client.CoreV1().RESTClient().Post().AbsPath("/"+fmt.Sprintf(path, "namespaces/"+namespace)).
			SetHeader("Content-Type", "application/json").Param("fieldValidation", "Strict").Body(data).Do(ctx).Error()
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
	}
}
