package scenario

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/test/cluster"
)

// What `berth render` shows is what the API server is asked for, of every step of every example: also when berth is
// killed when a run is admitted and no pod of it exists.
func TestPlanIsPod(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"hello.yaml":         nil,
		"acme/release.yaml":  {"--operator", "../../examples/acme/operator.yaml", "--param", "version=v1.2.3"},
		"demo/pipeline.yaml": {"--operator", "../../examples/demo/operator.yaml", "--environment", "staging"},
		"demo/waiting.yaml":  {"--operator", "../../examples/demo/operator.yaml"},
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			planIsPod(t, filepath.Join("../../examples", name), args)
		})
	}
}

// zeros are the ids that render has for those of a run.
const zeros = "00000000000000000000000000"

func planIsPod(t *testing.T, file string, args []string) {
	c := shared.Get(t)
	s := onCluster(t, c)
	ctx := cluster.Context(t)
	deployer := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}}
	if _, err := c.Client.CoreV1().ServiceAccounts(s.namespace).Create(ctx, deployer, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Steps []struct {
			Pod map[string]any
		}
	}
	rendered, err := ask(append([]string{"render", file, "-o", "json"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(rendered, &plan); err != nil {
		t.Fatal(err)
	}

	unfilled := occupy(t, s)
	state := filepath.Join(t.TempDir(), "state")
	flags := append(args, "--state", state, "-o", "json")
	first, err := launch(append([]string{"run", file}, append(flags, s.target...)...), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.kill)
	if err := first.until("a step waits for the quota", func() bool { return strings.Contains(first.String(), `"quota_exceeded"`) }); err != nil {
		t.Fatal(err)
	}
	first.kill()
	unfilled()
	second, err := launch([]string{"resume", "--state", state, "-o", "json"}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.kill)
	go succeed(t, s)
	if _, err := second.wait(); err != nil {
		t.Fatal(err)
	}
	r, err := shown(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range plan.Steps {
		post := c.Client.CoreV1().RESTClient().Post().Namespace(s.namespace).Resource("pods").Param("dryRun", "All").SetHeader("User-Agent", "rendered")
		if err := post.Body(evaluated(t, step.Pod, r)).Do(ctx).Error(); err != nil {
			t.Error(err)
		}
	}
	asked := func(who string) map[string]map[string]any { return bodies(t, s, r.ID, who) }
	want, got := asked("rendered"), asked("berth/")
	if len(got) != len(plan.Steps) || len(want) != len(plan.Steps) {
		t.Errorf("%d pods of %d steps were created\n%s", len(got), len(plan.Steps), second)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-rendered +created\n%s", diff)
	}
}

// bodies gives the pods that someone has asked the API server to create, by name. The audit log has them with the API
// server's defaults filled in, which is why what is rendered goes there too.
func bodies(t *testing.T, s *stage, run, who string) map[string]map[string]any {
	t.Helper()
	sent := map[string]map[string]any{}
	for _, q := range s.cluster.Audited(t, s.namespace, func(q cluster.Request) bool {
		return q.What() == "create pods" && strings.HasPrefix(q.UserAgent, who) && q.ObjectRef.Namespace == s.namespace && q.ResponseStatus.Code == 201
	}) {
		var pod map[string]any
		text := strings.NewReplacer(run, zeros, strings.ToLower(run), zeros).Replace(string(q.RequestObject))
		if err := json.Unmarshal([]byte(text), &pod); err != nil {
			t.Fatal(err)
		}
		name := facts(pod)
		if sent[name] != nil {
			t.Errorf("%s was created twice by %s", name, who)
		}
		sent[name] = pod
	}
	return sent
}

// occupy leaves no room for a pod in the namespace, until what it returns is called.
func occupy(t *testing.T, s *stage) func() {
	t.Helper()
	ctx, core := cluster.Context(t), s.cluster.Client.CoreV1()
	one := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "one"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}}}
	if _, err := core.ResourceQuotas(s.namespace).Create(ctx, one, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	there := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "there"}, Spec: corev1.PodSpec{NodeSelector: map[string]string{"none": "such"},
		Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
	cluster.Eventually(t, "the quota knows of itself", func() bool { // until its controller has looked, it lets nothing in
		_, err := core.Pods(s.namespace).Create(ctx, there, metav1.CreateOptions{})
		return err == nil
	})
	return func() {
		if err := core.ResourceQuotas(s.namespace).Delete(ctx, "one", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// facts hides what only an attempt has (the instance, the namespace, the fence), and gives the pod's name.
func facts(pod map[string]any) string {
	meta := pod["metadata"].(map[string]any)
	meta["annotations"].(map[string]any)["berth.dev/fence"] = "-"
	meta["labels"].(map[string]any)["berth.dev/instance"] = "-"
	delete(meta, "namespace")
	spec := pod["spec"].(map[string]any)
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for _, c := range containers {
			vars, _ := c.(map[string]any)["env"].([]any)
			for _, v := range vars {
				if v := v.(map[string]any); v["name"] == "BERTH_FENCE" {
					v["value"] = "-"
				}
			}
		}
	}
	return meta["name"].(string)
}

var output = regexp.MustCompile(`\$\{\{ steps\.([a-z-]+)\.outputs\.([a-z]+) \}\}`)

// evaluated is a rendered pod with the outputs that were not known when it was rendered.
func evaluated(t *testing.T, pod map[string]any, r *shownRun) []byte {
	t.Helper()
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	text = output.ReplaceAllFunc(text, func(found []byte) []byte {
		m := output.FindSubmatch(found)
		for _, s := range r.Steps {
			if s.ID == string(m[1]) {
				return []byte(s.Outputs[string(m[2])])
			}
		}
		return found
	})
	return text
}

// outputsOf are those that steps of the examples declare.
var outputsOf = map[string]string{"greet": "greeting=hello\n", "clone": "commit=abc\n", "build": "digest=sha256:12\n"}

// succeed is the kubelet of nodes that there are not: each pod of the namespace ends well, with its outputs.
func succeed(t *testing.T, s *stage) {
	pods := s.cluster.Client.CoreV1().Pods(s.namespace)
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok || pod.Status.Phase == corev1.PodSucceeded || pod.Name == "there" {
			continue
		}
		now := metav1.Now()
		outputs := outputsOf[pod.Labels["berth.dev/step"]]
		status, err := json.Marshal(map[string]any{"status": corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{Name: "step",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", Message: outputs, StartedAt: now, FinishedAt: now}}}}}})
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = pods.Patch(t.Context(), pod.Name, types.StrategicMergePatchType, status, metav1.PatchOptions{}, "status")
	}
}
