package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/test/cluster"
)

// fields are what other systems lose on the way to the pod. CLASS and RUNTIME are of the test's own.
var fields = []struct{ name, fragment string }{
	{"tolerations", `tolerations: [{key: gpu, operator: Exists, effect: NoExecute, tolerationSeconds: 60}, {key: tier, operator: Equal, value: "1.20", effect: NoSchedule}]`},
	{"priorityClassName", `priorityClassName: CLASS`},
	{"affinity", `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd, nvme]}]}, {matchExpressions: [{key: cores, operator: Gt, values: ["8"]}]}]}
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, preference: {matchExpressions: [{key: zone, operator: NotIn, values: [a]}]}}]
  podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: cache}}, namespaces: [caches]}]}
  podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchExpressions: [{key: app, operator: Exists}]}}}]}`},
	{"topologySpreadConstraints", `
topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {matchLabels: {app: x}}}
  - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: x}}}`},
	{"ephemeral-storage", `containers: [{name: step, resources: {requests: {ephemeral-storage: 1Gi}, limits: {ephemeral-storage: 20Gi}}}]`},
	{"terminationGracePeriodSeconds", `terminationGracePeriodSeconds: 7`},
	{"resourceClaims", `
resourceClaims: [{name: gpu, resourceClaimName: claim}, {name: nic, resourceClaimTemplateName: template}]
containers: [{name: step, resources: {claims: [{name: gpu, request: one}, {name: nic}]}}]`},
	{"runtimeClassName", `runtimeClassName: RUNTIME`},
	{"annotations", `annotations: {example.com/cost-center: "4711", plain: ""}`},
}

// What a layer says of a field is in the fragment that Berth reads, in the plan, in the pod and in what the
// API server stores, whichever of the layers that people write says it, while the others say other things.
func TestNoFieldIsLost(t *testing.T) {
	t.Parallel()
	n := newNamespace(t, profile.BaselineStandard)
	exists := exist(t, n.Cluster, n.name)
	cases := 0
	for _, field := range fields {
		for _, layer := range []string{"baseline", "profile", "k8s_overlay"} {
			cases++
			t.Run(field.name+" from "+layer, func(t *testing.T) {
				text := strings.NewReplacer("CLASS", exists.class, "RUNTIME", exists.runtime).Replace(field.fragment)
				follow(t, n, field.name, layer, text)
			})
		}
	}
	if cases != 27 {
		t.Errorf("%d cases", cases)
	}
}

// follow follows a fragment from a layer into the cluster.
func follow(t *testing.T, n namespace, field, layer, fragment string) {
	written := map[string]string{"baseline": "labels: {baseline: a}", "profile": "nodeSelector: {profile: b}", "k8s_overlay": "labels: {overlay: c}"}
	written[layer] = fragment
	operator := loaded(t, `
version: 1
baseline:
  k8s:`+indented(written["baseline"], 4)+`
placement_profiles:
  - name: only
    k8s:`+indented(written["profile"], 6)+`
environments:
  - {name: target, permits: {k8s_overlay: true, claims: [claim]}}
`)
	step := strings.ToLower(strings.ReplaceAll(field, "_", "-") + "-" + strings.TrimPrefix(layer, "k8s_"))
	made := planned(t, `
version: 1
name: lost
environment: target
steps:
  - name: `+step+`
    image: devplane/busybox:1
    command: ["true"]
    placement_profiles: [only]
    resources: {cpu: 100m, memory: 16Mi}
    k8s_overlay:`+indented(written["k8s_overlay"], 6), operator, pipeline.Input{})
	s := &made.Steps[0]
	readAs := map[string]map[string]any{"baseline": operator.Baseline.K8s.Value, "profile": operator.Profile("only").K8s.Value, "k8s_overlay": s.K8sOverlay}
	pod := attempt(t, s, n.facts())
	wanted := read(t, fragment)
	there := func(stage string, got map[string]any) {
		t.Helper()
		if lost := missing("", wanted, got); lost != "" {
			t.Fatalf("%s from %s is lost in the %s: %s", field, layer, stage, lost)
		}
	}
	there("fragment", readAs[layer])
	there("plan", s.Pod.Fragment)
	there("pod", fragmentOf(pod))
	stored := n.store(t, pod)
	there("stored pod", fragmentOf(stored))
	for _, d := range Dropped(pod, stored) {
		t.Error(d)
	}
}

// store creates a pod, gives what is stored of it, and deletes it.
func (n namespace) store(t *testing.T, pod map[string]any) map[string]any {
	t.Helper()
	if _, _, err := n.create(t, pod, false); err != nil {
		t.Fatalf("%v\n%s", err, shown(pod))
	}
	ctx, name, now := cluster.Context(t), pod["metadata"].(map[string]any)["name"].(string), int64(0)
	answer, err := n.Client.CoreV1().RESTClient().Get().Namespace(n.name).Resource("pods").Name(name).SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Client.CoreV1().Pods(n.name).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Error(err)
	}
	var stored map[string]any
	if err := kjson.Unmarshal(answer, &stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

// fragmentOf is a pod as fragments are written.
func fragmentOf(pod map[string]any) map[string]any {
	f := maps.Clone(pod["spec"].(map[string]any))
	metadata := pod["metadata"].(map[string]any)
	f["labels"], f["annotations"] = metadata["labels"], metadata["annotations"]
	return f
}

// missing names the first thing that is wanted and not there. There may be more in maps, and more items in
// lists of maps.
func missing(path string, wanted, got any) string {
	switch wanted := wanted.(type) {
	case map[string]any:
		m, _ := got.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			if _, ok := m[name]; !ok {
				return fmt.Sprintf("%s.%s is not there", path, name)
			}
			if lost := missing(path+"."+name, wanted[name], m[name]); lost != "" {
				return lost
			}
		}
		return ""
	case []any:
		list, _ := got.([]any)
		for i, e := range wanted {
			if !slices.ContainsFunc(list, func(g any) bool { return missing("", e, g) == "" }) {
				return fmt.Sprintf("%s[%d], which is %s, is not in %s", path, i, shown(e), shown(got))
			}
		}
		return ""
	}
	if !equal(path, wanted, got) {
		return fmt.Sprintf("%s is %s, wanted %s", path, shown(got), shown(wanted))
	}
	return ""
}

// equal compares quantities by what they are worth, and all else, types included, by what it is.
func equal(path string, wanted, got any) bool {
	if strings.Contains(path, ".requests.") || strings.Contains(path, ".limits.") {
		p, errP := resource.ParseQuantity(fmt.Sprint(wanted))
		q, errQ := resource.ParseQuantity(fmt.Sprint(got))
		return errP == nil && errQ == nil && p.Cmp(q) == 0
	}
	return integers(wanted) == integers(got)
}
