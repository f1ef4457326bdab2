package kubeclient

import (
	"errors"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/test/cluster"
	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// client gives a client for a namespace of the test's own.
func client(t *testing.T) (*cluster.Cluster, *Client) {
	t.Helper()
	c := shared.Get(t)
	k, err := New(Options{Kubeconfig: c.Kubeconfig, Namespace: c.Namespace(t), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c, k
}

func pod(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNodes(t *testing.T) {
	t.Parallel()
	_, k := client(t)
	nodes, err := k.Nodes(cluster.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	// The node controller takes its taint away a moment after a node is ready.
	spec := &corev1.PodSpec{NodeSelector: map[string]string{"node-group": "gpu"}, Tolerations: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}}}
	stopped := ""
	for _, n := range nodes {
		if n.Name == "arm-1" {
			for _, r := range fit.Node(spec, &n) {
				stopped += r.String() + "\n"
			}
		}
	}
	want := "taint workload-type=batch:NoSchedule is not tolerated\nlabel node-group is general, wanted gpu (nodeSelector)\n"
	if stopped != want {
		t.Errorf("of %d nodes arm-1 is stopped by\n%swant\n%s", len(nodes), stopped, want)
	}
}

// A pod with much in it is stored as it was sent, with what the API server adds, and is not there then.
func TestDryRun(t *testing.T) {
	t.Parallel()
	c, k := client(t)
	sent := pod(t, `
metadata:
  generateName: step-
  labels: {berth.dev/run: r}
  annotations: {berth.dev/placement: "{}"}
spec:
  restartPolicy: Never
  enableServiceLinks: false
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 30
  nodeSelector: {kubernetes.io/os: linux}
  tolerations:
  - {key: workload-type, operator: Equal, value: batch, effect: NoSchedule}
  - {key: tier, value: critical}
  affinity:
    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}}
    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {berth.dev/run: r}}}]}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}]
  securityContext: {fsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
  initContainers:
  - {name: db, image: "postgres:17", restartPolicy: Always, startupProbe: {tcpSocket: {port: 5432}}}
  containers:
  - name: step
    image: golang
    command: [/bin/sh, -e, -c, "true"]
    env: [{name: A, value: ""}, {name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: CPU, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}]
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {cpu: 1.5, memory: 1Gi, ephemeral-storage: 1e9}}
    securityContext: {allowPrivilegeEscalation: false, runAsUser: 0, capabilities: {drop: [ALL]}}
    stdin: false
    volumeMounts: [{name: w, mountPath: /workspace, readOnly: false}]
  volumes: [{name: w, persistentVolumeClaim: {claimName: c}}, {name: e, emptyDir: {sizeLimit: 1024Ki}}]
`)
	answer, err := k.DryRun(cluster.Context(t), sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range podspec.Dropped(sent, answer.Pod) {
		t.Error(d)
	}
	if spec := answer.Pod["spec"].(map[string]any); spec["schedulerName"] != "default-scheduler" {
		t.Errorf("nothing was added: %v", spec)
	}
	if len(answer.Warnings) > 0 {
		t.Errorf("warnings: %q", answer.Warnings)
	}
	if _, ok := sent["kind"]; ok || sent["metadata"].(map[string]any)["name"] != nil {
		t.Errorf("the argument was written to: %v", sent)
	}
	list, err := c.Client.CoreV1().Pods(k.Namespace()).List(cluster.Context(t), metav1.ListOptions{})
	if err != nil || len(list.Items) > 0 {
		t.Errorf("%d pods are stored, %v", len(list.Items), err)
	}
}

// A field that the API server does not know is refused, and the words are its own.
func TestDryRunRefusesUnknownFields(t *testing.T) {
	t.Parallel()
	_, k := client(t)
	_, err := k.DryRun(cluster.Context(t), pod(t, `{metadata: {name: p}, spec: {nodeSelektor: {a: b}, containers: [{name: step, image: x, imagePullPolicee: Never}]}}`))
	wantRefused(t, err, metav1.StatusReasonBadRequest, `unknown field "spec.containers[0].imagePullPolicee"`, `unknown field "spec.nodeSelektor"`)
}

// A field that it knows and has switched off it drops, under strict validation too, and says nothing.
func TestDryRunDropsWhatIsOff(t *testing.T) {
	t.Parallel()
	_, k := client(t)
	sent := pod(t, `{metadata: {name: p}, spec: {os: {name: linux}, containers: [{name: step, image: x, lifecycle: {stopSignal: SIGINT}}]}}`)
	answer, err := k.DryRun(cluster.Context(t), sent)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Warnings) > 0 {
		t.Errorf("it said: %q", answer.Warnings)
	}
	d := podspec.Dropped(sent, answer.Pod)
	if len(d) != 1 || d[0].String() != `spec.containers[step].lifecycle: sent {"stopSignal":"SIGINT"}, and it is not stored` {
		t.Errorf("dropped: %v", d)
	}
}

func TestDryRunKeepsWarnings(t *testing.T) {
	t.Parallel()
	_, k := client(t)
	answer, err := k.DryRun(cluster.Context(t), pod(t, `{metadata: {name: p}, spec: {containers: [{name: step, image: x, env: [{name: A, value: x}, {name: A, value: y}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], `hides previous definition of "A"`) {
		t.Errorf("warnings: %q", answer.Warnings)
	}
}

// What validation and admission say is about the pod, also where it is 403 Forbidden.
func TestDryRunRefusedByValidation(t *testing.T) {
	t.Parallel()
	_, k := client(t)
	_, err := k.DryRun(cluster.Context(t), pod(t, `{metadata: {name: p}, spec: {containers: [{name: step, image: x, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}}`))
	wantRefused(t, err, metav1.StatusReasonInvalid, "must be less than or equal to cpu limit of 1")
}

func TestDryRunRefusedByAdmission(t *testing.T) {
	t.Parallel()
	c, k := client(t)
	ctx := cluster.Context(t)
	limit := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"memory": resource.MustParse("512Mi")}}}}}
	if _, err := c.Client.CoreV1().LimitRanges(k.Namespace()).Create(ctx, limit, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The first pod of a namespace: for a later one admission might rely on a cache that is behind.
	_, err := k.DryRun(ctx, pod(t, `{metadata: {generateName: p-}, spec: {containers: [{name: step, image: x, resources: {limits: {memory: 700Mi}}}]}}`))
	wantRefused(t, err, metav1.StatusReasonForbidden, "maximum memory usage per Container is 512Mi, but limit is 700Mi")
}

func wantRefused(t *testing.T, err error, reason metav1.StatusReason, words ...string) {
	t.Helper()
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Errorf("not refused: %T %v", err, err)
		return
	}
	if refused.Reason != reason {
		t.Errorf("reason %s, want %s", refused.Reason, reason)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in %q", w, err)
		}
	}
}
