package cluster

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Request is what the API server's audit log has of one.
type Request struct {
	Stage            string
	Verb, RequestURI string
	UserAgent        string
	User             struct{ Username string }
	ObjectRef        struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
	RequestObject    json.RawMessage // of the creation of a pod; of no other request
}

// What is the verb and the resource, as in "get pods/log".
func (q Request) What() string {
	resource := q.ObjectRef.Resource
	if q.ObjectRef.Subresource != "" {
		resource += "/" + q.ObjectRef.Subresource
	}
	return q.Verb + " " + resource
}

// Denied says whether whoever asked had no right to.
func (q Request) Denied() bool { return q.Annotations["authorization.k8s.io/decision"] == "forbid" }

// Audited gives the requests whose line in the audit log has a text (a user, a namespace) and that match: each once,
// when it was answered, and those that go on when they began.
func (c *Cluster) Audited(t testing.TB, text string, matches func(Request) bool) []Request {
	t.Helper()
	f, err := os.Open(filepath.Join(filepath.Dir(c.Kubeconfig), "logs", "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []Request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var q Request
		if !strings.Contains(lines.Text(), text) || json.Unmarshal(lines.Bytes(), &q) != nil {
			continue
		}
		long := q.Verb == "watch" && !q.Denied()
		if (q.Stage == "ResponseStarted" && long || q.Stage == "ResponseComplete" && !long) && matches(q) {
			all = append(all, q)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
