package podspec

import (
	"encoding/json"
	"net"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/test/cluster"
)

var shared = cluster.Share("testdata/nodes.yaml")

// listenKey makes this test binary a service, which listens on the port that it names.
const listenKey = "TEST_LISTEN"

func TestMain(m *testing.M) {
	if port := os.Getenv(listenKey); port != "" {
		os.Exit(listen(port))
	}
	os.Exit(shared.Main(m))
}

func listen(port string) int {
	l, err := net.Listen("tcp", ":"+port)
	for err == nil {
		var c net.Conn
		if c, err = l.Accept(); err == nil {
			_ = c.Close()
		}
	}
	return 1
}

// Of attempts in tests.
const (
	instance = "01JINSTANCE000000000000000"
	run      = "01K9A0B1C2D3E4F5G6H7J8K9M0"
	otherRun = "01K9A0B1C2D3E4F5G6H7J8K9M1"
)

// namespace is one of a test's own, in a real cluster.
type namespace struct {
	*cluster.Cluster
	name string
}

// newNamespace has the cluster hold the namespace's pods to a pod security standard as well.
func newNamespace(t *testing.T, security profile.PodSecurity, accounts ...string) namespace {
	t.Helper()
	c := shared.Get(t)
	n := namespace{c, c.Namespace(t)}
	ctx := cluster.Context(t)
	patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + string(security) + `"}}}`
	if _, err := c.Client.CoreV1().Namespaces().Patch(ctx, n.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range accounts {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := c.Client.CoreV1().ServiceAccounts(n.name).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// facts is an attempt in the namespace.
func (n namespace) facts(late ...string) Facts {
	return Facts{Namespace: n.name, Instance: instance, Run: run, Attempt: 1, Fence: 1, Late: late}
}

// warnings keeps what the API server has to say about a pod.
type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

// create sends a pod exactly as it is, under strict field validation, and gives the API server's answer and
// warnings. In a dry run it stores nothing.
func (n namespace) create(t *testing.T, pod map[string]any, dryRun bool) (map[string]any, []string, error) {
	data, err := json.Marshal(pod)
	if err != nil {
		return nil, nil, err
	}
	said := &warnings{}
	r := n.Client.CoreV1().RESTClient().Post().Namespace(n.name).Resource("pods").Param("fieldValidation", "Strict").
		SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").WarningHandler(said).Body(data)
	if dryRun {
		r = r.Param("dryRun", metav1.DryRunAll)
	}
	result := r.Do(cluster.Context(t))
	if err := result.Error(); err != nil {
		return nil, said.all, err
	}
	answer, err := result.Raw()
	if err != nil {
		return nil, said.all, err
	}
	var stored map[string]any
	return stored, said.all, kjson.Unmarshal(answer, &stored)
}

// accept fails the test unless the API server takes the pod as it is, and has nothing to say about it.
func (n namespace) accept(t *testing.T, pod map[string]any, dryRun bool) (stored map[string]any) {
	t.Helper()
	stored, said, err := n.create(t, pod, dryRun)
	if err != nil {
		t.Fatalf("%v\n%s", err, shown(pod))
	}
	for _, w := range said {
		t.Errorf("warning: %s", w)
	}
	for _, d := range Dropped(pod, stored) {
		t.Error(d)
	}
	return stored
}

// loaded reads an operator file; none if the text is empty.
func loaded(t *testing.T, text string) *profile.File {
	t.Helper()
	if text == "" {
		return profile.Empty()
	}
	operator, findings := profile.Load("operator.yaml", []byte(text))
	if operator == nil {
		t.Fatalf("%s%s", findings.Text(nil), text)
	}
	return operator
}

// planned makes the plan of a run, for the embedded berth run. What is refused fails the test.
func planned(t *testing.T, text string, operator *profile.File, in pipeline.Input) *plan.Plan {
	t.Helper()
	file, findings := pipeline.Parse("pipeline.yaml", []byte(text), pipeline.Options{Privileged: operator.PodSecurity == profile.Privileged})
	if file == nil {
		t.Fatalf("%s%s", findings.Text(nil), text)
	}
	out := plan.Make(file, operator, in, govern.Who{Embedded: true})
	if out.Plan == nil {
		t.Fatalf("%s%s", out.Findings.Text(nil), text)
	}
	return out.Plan
}

// attempt makes the pod of a step's attempt.
func attempt(t *testing.T, s *plan.Step, facts Facts) map[string]any {
	t.Helper()
	pod, err := Pod(s, facts)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}
