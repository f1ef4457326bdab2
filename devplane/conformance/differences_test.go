package conformance

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// difference is a field of a pod's status that may differ between kinds of node. What is compared
// instead is whether the field is there.
type difference struct {
	path   string // keys joined by dots; * is any one key, # any one index
	reason string
	// holds, if not empty, must be in the value for the difference to be accepted.
	holds string
	// maybe says that one kind may lack the field.
	maybe bool
}

// differences are all that are accepted in every row.
var differences = []difference{
	{path: "startTime", reason: "when the node first saw the pod"},
	{path: "conditions.#.lastTransitionTime", reason: "time"},
	{path: "*.#.state.*.startedAt", reason: "time"},
	{path: "*.#.state.*.finishedAt", reason: "time"},
	{path: "*.#.lastState.*.startedAt", reason: "time"},
	{path: "*.#.lastState.*.finishedAt", reason: "time"},
	{path: "hostIP", reason: "each kind has its own addresses"},
	{path: "hostIPs.#.ip", reason: "each kind has its own addresses"},
	{path: "podIP", reason: "process nodes have no network namespaces: a pod's address is its node's"},
	{path: "podIPs.#.ip", reason: "process nodes have no network namespaces: a pod's address is its node's"},
	{path: "*.#.containerID", reason: "names the runtime"},
	{path: "*.#.state.*.containerID", reason: "names the runtime"},
	{path: "*.#.lastState.*.containerID", reason: "names the runtime"},
	{path: "*.#.image", reason: "a process node has no images: it repeats the name that was asked for"},
	{path: "*.#.imageID", reason: "a process node has no images"},
	{path: "*.#.state.waiting.message", reason: "the puller's words, and the back-off's with the pod's name; the table checks what they must say"},
	{path: "*.#.state.terminated.message", holds: "no-such-command", reason: "runc's words; the table checks what they must say"},
	{path: "*.#.user", maybe: true, reason: "containerd reports it from 2.0 on, process nodes always"},
	{path: "resources", reason: "with cgroup v1 the kubelet reports a pod without limits as limited to all addressable memory"},
}

// uses records which differences were seen.
type uses struct {
	mu   sync.Mutex
	seen map[string]map[string]bool // path of difference -> values
}

func (u *uses) note(path, value string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[string]map[string]bool{}
	}
	if u.seen[path] == nil {
		u.seen[path] = map[string]bool{}
	}
	u.seen[path][value] = true
}

// checkAll reports differences that no row shows.
func (u *uses) checkAll(t *testing.T) {
	if t.Failed() {
		return
	}
	for _, d := range differences {
		if len(u.seen[d.path]) < 2 && !d.maybe {
			t.Errorf("the list of differences accepts %s (%s), but no row differs there: remove it", d.path, d.reason)
		}
	}
}

// comparable1 is a pod's status as JSON values, with lists that are sets sorted.
func comparable1(t *testing.T, pod *corev1.Pod) any {
	t.Helper()
	status := pod.Status.DeepCopy()
	slices.SortFunc(status.Conditions, func(a, b corev1.PodCondition) int { return strings.Compare(string(a.Type), string(b.Type)) })
	for i := range status.ContainerStatuses {
		hideToken(&status.ContainerStatuses[i])
	}
	for i := range status.InitContainerStatuses {
		hideToken(&status.InitContainerStatuses[i])
	}
	data, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// hideToken gives the token volume, whose name is random in each pod, one name.
func hideToken(s *corev1.ContainerStatus) {
	for i, m := range s.VolumeMounts {
		if strings.HasPrefix(m.Name, "kube-api-access-") {
			s.VolumeMounts[i].Name = "kube-api-access"
		}
	}
}

// accept replaces the values of accepted differences by whether there is one.
func accept(v any, accepted []difference, used *uses) any { return acceptAt(v, nil, accepted, used) }

func acceptAt(v any, at []string, accepted []difference, used *uses) any {
	where := strings.Join(at, ".")
	for _, d := range accepted {
		if ok, _ := path.Match(strings.ReplaceAll(d.path, ".", "/"), strings.ReplaceAll(where, ".", "/")); !ok {
			continue
		}
		if data, _ := json.Marshal(v); strings.Contains(string(data), d.holds) {
			used.note(d.path, string(data))
			if d.maybe {
				return nil
			}
			return "(differs)"
		}
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if a := acceptAt(v[k], append(slices.Clone(at), k), accepted, used); a != nil {
				out[k] = a
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = acceptAt(v[i], append(slices.Clone(at), "#"), accepted, used)
		}
		return out
	}
	return v
}

// make1 creates a ConfigMap, a Secret or a claim.
func make1(t *testing.T, ns, text string) {
	t.Helper()
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		t.Fatal(err)
	}
	ctx, client := devplanetest.Context(t), cluster.Client.CoreV1()
	var err error
	switch kind.Kind {
	case "Secret":
		_, err = client.Secrets(ns).Create(ctx, into(t, text, &corev1.Secret{}), metav1.CreateOptions{})
	case "ConfigMap":
		_, err = client.ConfigMaps(ns).Create(ctx, into(t, text, &corev1.ConfigMap{}), metav1.CreateOptions{})
	case "PersistentVolumeClaim":
		_, err = client.PersistentVolumeClaims(ns).Create(ctx, into(t, text, &corev1.PersistentVolumeClaim{}), metav1.CreateOptions{})
	default:
		t.Fatalf("make1 knows no kind %q", kind.Kind)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func into[T any](t *testing.T, text string, v *T) *T {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), v); err != nil {
		t.Fatal(err)
	}
	return v
}
