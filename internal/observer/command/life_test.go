package command

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/test/cluster"
)

func newJob(spec batchv1.JobSpec) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "report-"}, Spec: spec}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get gives what the program answers, and with which code.
func get(t *testing.T, address, path string) (string, int) {
	t.Helper()
	q, err := http.NewRequestWithContext(cluster.Context(t), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), r.StatusCode
}

func scrape(t *testing.T, address string) string {
	t.Helper()
	body, code := get(t, address, "/metrics")
	if code != http.StatusOK {
		t.Fatal(code, body)
	}
	return body
}

// index gives what stands around a word.
func index(text, word string) string {
	i := strings.Index(text, word)
	if i < 0 {
		return ""
	}
	return text[max(0, i-100):min(len(text), i+100)]
}

const onePod = `{apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {containers: [{name: c, image: i}]}}`

// What changes is written, filters are read anew, and who does not want to be observed is not.
func TestFiltersWhileItRuns(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	ctx := cluster.Context(t)
	apply(t, c, ns, strings.Replace(onePod, "NAME", "a", 1))
	address := freeAddress(t)
	r := start(t, c.Kubeconfig, "", "--listen", address)
	r.until("the pod is said", func(s *said) bool { return len(s.of(ns, "Pod", "a")) == 1 })
	if body, code := get(t, address, "/readyz"); code != http.StatusOK {
		t.Error(code, body)
	}
	if body, code := get(t, address, "/healthz"); code != http.StatusOK {
		t.Error(code, body)
	}
	if text := scrape(t, address); !strings.Contains(text, `berth_workload_placement_info{namespace="`+ns+`",variant="44136fa355b3",workload_kind="Pod",workload_name="a"} 1`) {
		t.Error(text)
	}

	r.config("namespaces: {deny: [" + ns + "]}\n")
	s := r.until("the filter is in force", func(s *said) bool {
		return len(s.of(ns, "Pod", "a")) == 0 && s.Coverage.PodsExcluded[v1.ExcludedNamespaceFilter] > 0
	})
	if strings.Contains(string(s.Bytes), ns) {
		t.Errorf("an excluded namespace is named: %s", index(string(s.Bytes), ns))
	}
	r.config("namespaces: {deny: oops}\n")
	r.until("an invalid configuration is counted", func(s *said) bool { return s.Coverage.Errors[v1.ErrorConfig] > 0 })
	if s := r.latest(); len(s.of(ns, "Pod", "a")) != 0 {
		t.Error("an invalid configuration is in force")
	}
	r.config("")
	r.until("the pod is said again", func(s *said) bool { return len(s.of(ns, "Pod", "a")) == 1 })

	object, err := c.Client.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.Annotations = map[string]string{"berth.dev/observe": "false"}
	if _, err := c.Client.CoreV1().Namespaces().Update(ctx, object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.until("the namespace is left out", func(s *said) bool {
		return len(s.of(ns, "Pod", "a")) == 0 && s.Coverage.PodsExcluded[v1.ExcludedNamespaceOptOut] > 0
	})
}

// A spool that can't be written to is an error in what coverage would say, and the program goes on.
func TestSpoolFails(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	address := freeAddress(t)
	// Payloads that have not changed are not written again for an hour, unless they could not be.
	r := start(t, c.Kubeconfig, "", "--listen", address)
	r.until("all is written", func(s *said) bool { return s.Coverage.Kind != "" && s.Workloads.Kind != "" && s.Nodes.Kind != "" })
	if err := os.Rename(r.dir, r.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the error is counted", func() bool {
		return strings.Contains(scrape(t, address), `berth_observer_errors_total{what="spool"}`)
	})
	if err := os.Mkdir(r.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	r.until("coverage says so, and all is written again", func(s *said) bool {
		return s.Coverage.Errors[v1.ErrorSpool] > 0 && s.Workloads.Kind != "" && s.Nodes.Kind != ""
	})
}

// Payloads are posted: each kind, with the token, until they are taken.
func TestPush(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	got := make(chan string, 100)
	answers := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if answers++; answers == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		z, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			return // the program was stopped in the middle of it
		}
		if !strings.HasPrefix(string(body), `{"kind":"`+q.Header.Get("Berth-Kind")+`"`) || q.Header.Get("Authorization") != "Bearer hunter2" {
			t.Errorf("%v %s", q.Header, body)
		}
		got <- q.Header.Get("Berth-Kind")
	}))
	defer receiver.Close()
	token := t.TempDir() + "/token"
	if err := os.WriteFile(token, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, c.Kubeconfig, "", "--push", receiver.URL, "--push-token-file", token)
	missing := map[string]bool{v1.KindCoverage: true, v1.KindNodes: true, v1.KindWorkloads: true}
	for len(missing) > 0 {
		select {
		case kind := <-got:
			delete(missing, kind)
		case <-cluster.Context(t).Done():
			t.Fatalf("not posted: %v\n%s", missing, r.stderr)
		}
	}
	r.until("the failure is counted", func(s *said) bool { return s.Coverage.Errors[v1.ErrorPush] == 1 })
	r.stop()
	if strings.Contains(r.stderr.String(), "hunter2") {
		t.Error(r.stderr)
	}
}

// The API server is killed and comes back: no record is lost, what happened since is seen, and coverage says that
// the observer was blind. Then its rights are taken: coverage says so of each source, and what was seen stays.
func TestBlind(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, "testdata/nodes.yaml")
	ns := c.Namespace(t)
	u := newUser(t, c)
	take := u.grant(t, c, rules(t, "rules-cluster.yaml"))
	apply(t, c, ns, strings.Replace(onePod, "NAME", "before", 1))
	r := start(t, u.kubeconfig, "")
	r.until("the pod is said", func(s *said) bool { return len(s.of(ns, "Pod", "before")) == 1 })

	c.Devplane(t, "fault", "kill", "apiserver", "--hold")
	s := r.until("coverage says that it is blind", func(s *said) bool { return source(&s.Coverage, "pods").Failing == v1.FailingUnreachable })
	if p := source(&s.Coverage, "pods"); p.FailingSince == nil || !p.Synced || len(s.of(ns, "Pod", "before")) != 1 {
		t.Errorf("%+v, %+v", p, s.Workloads)
	}
	c.Devplane(t, "fault", "start", "apiserver")
	cluster.Eventually(t, "the API server", func() bool {
		_, err := c.Client.CoreV1().Namespaces().Get(context.Background(), ns, metav1.GetOptions{})
		return err == nil
	})
	apply(t, c, ns, strings.Replace(onePod, "NAME", "after", 1))
	r.until("both pods are said", func(s *said) bool {
		return len(s.of(ns, "Pod", "before")) == 1 && len(s.of(ns, "Pod", "after")) == 1
	})
	r.until("coverage says that it was blind", func(s *said) bool {
		for _, from := range s.Coverage.Sources {
			if from.Failing != "" || from.Interruptions == 0 {
				return false
			}
		}
		return len(s.Coverage.Sources) == 9
	})

	// An open watch outlives the right to it, until it ends.
	take()
	c.Devplane(t, "fault", "kill", "apiserver")
	s = r.until("coverage says that it may not see", func(s *said) bool {
		for _, from := range s.Coverage.Sources {
			if from.Failing != v1.FailingForbidden {
				return false
			}
		}
		return true
	})
	if len(s.of(ns, "Pod", "after")) != 1 || s.Coverage.PodsSeen == 0 {
		t.Errorf("%+v", s.Coverage)
	}
	if !strings.Contains(r.stderr.String(), "forbidden") {
		t.Error(r.stderr)
	}
}
