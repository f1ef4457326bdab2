package podspec

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// What a cluster added, changed and lost is told apart, each with its place in the fragment.
func TestCluster(t *testing.T) {
	t.Parallel()
	decode := func(text string) (m map[string]any) {
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	sent := decode(`
metadata: {name: p, labels: {a: "1"}}
spec:
  hostUsers: false
  containers: [{name: step, image: a, env: [{name: X, value: "1"}]}]
  tolerations: [{key: k, operator: Exists}]`)
	answer := decode(`
metadata: {name: p, uid: u, labels: {a: "1", team: b}, annotations: {seen: "yes"}}
spec:
  containers: [{name: step, image: mirror/a, imagePullPolicy: Always, env: [{name: X, value: "1"}, {name: Y, value: "2"}]}, {name: mesh, image: m}]
  tolerations: [{key: k, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]
  priority: 0
status: {phase: Pending}`)
	before := fmt.Sprint(sent, answer)
	origins, lost := Cluster(sent, answer)
	var got []string
	for _, o := range origins {
		line := o.Path.String()
		if len(o.Replaced) > 0 {
			line += fmt.Sprintf(" (was %v)", o.Replaced[0].Value)
		}
		got = append(got, line)
	}
	want := `containers[step].image (was a)
annotations
labels.team
containers[step].env[Y]
containers[step].imagePullPolicy
containers[mesh]
priority
tolerations[node.kubernetes.io/not-ready:Exists::NoExecute]`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
	if len(lost) != 1 || lost[0].Path.String() != "spec.hostUsers" {
		t.Errorf("lost %v", lost)
	}
	if fmt.Sprint(sent, answer) != before {
		t.Error("an argument was written to")
	}
}
