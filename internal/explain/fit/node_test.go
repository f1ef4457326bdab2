package fit

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The nodes of a cluster as platform teams have them: tainted pools, a control plane, a cordon.
const (
	general = `
metadata: {name: general-0, labels: {kubernetes.io/os: linux, kubernetes.io/arch: amd64, node-group: general, cpus: "32"}}
spec: {taints: [{key: workload-type, value: batch, effect: NoSchedule}]}
status: {allocatable: {cpu: "32", memory: 64Gi, ephemeral-storage: 100Gi, pods: "110"}}`
	critical = `
metadata: {name: critical-0, labels: {kubernetes.io/arch: arm64, node-group: general, tier: critical}}
spec:
  taints:
  - {key: workload-type, value: batch, effect: NoSchedule}
  - {key: tier, value: critical, effect: NoSchedule}
  - {key: maintenance, effect: NoExecute}
  - {key: noisy, effect: PreferNoSchedule}
status: {allocatable: {cpu: 7910m, memory: 15000Mi, pods: "58"}}`
	gpu = `
metadata: {name: gpu-0, labels: {kubernetes.io/arch: amd64, node-group: gpu}}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110", nvidia.com/gpu: "4", hugepages-2Mi: "0"}}`
	cordoned = `
metadata: {name: old-0, labels: {kubernetes.io/arch: amd64}}
spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}`
	bare = `metadata: {name: new-0, labels: {kubernetes.io/arch: ""}}`
	full = `
metadata: {name: tiny-0}
status: {allocatable: {cpu: 500m, memory: 1Gi, pods: "0"}}`
)

const batch = "tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]\n"

func requests(list string) string {
	return "containers: [{name: step, resources: {requests: {" + list + "}}}]\n"
}

func required(terms string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}\n"
}

func TestNode(t *testing.T) {
	for _, test := range []struct {
		name, pod, node string
		want            []string
	}{
		{"tolerated", batch, general, nil},
		{"nothing is tolerated", "", critical, []string{
			"taint workload-type=batch:NoSchedule is not tolerated", "taint tier=critical:NoSchedule is not tolerated", "taint maintenance:NoExecute is not tolerated"}},
		{"another value, another effect", `tolerations: [{key: tier, value: high, effect: NoSchedule}, {key: maintenance, operator: Exists, effect: NoSchedule}, {key: workload-type, operator: Exists}]`, critical,
			[]string{"taint tier=critical:NoSchedule is not tolerated", "taint maintenance:NoExecute is not tolerated"}},
		{"everything is tolerated", `tolerations: [{operator: Exists}]`, critical, nil},
		{"a cordon is one reason, not two", "", cordoned, []string{"the node is cordoned"}},
		{"a cordon is tolerated", `tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]`, cordoned, nil},
		{"comparisons", `tolerations: [{key: sla, operator: Gt, value: "950", effect: NoSchedule}, {key: cost, operator: Lt, value: "5", effect: NoSchedule}]`,
			`spec: {taints: [{key: sla, value: "990", effect: NoSchedule}, {key: cost, value: "7", effect: NoSchedule}]}`,
			[]string{"taint cost=7:NoSchedule is not tolerated"}},

		{"selector", `nodeSelector: {node-group: general, kubernetes.io/arch: amd64, disk: ssd}`, gpu,
			[]string{"label disk is not there, wanted ssd (nodeSelector)", "label node-group is gpu, wanted general (nodeSelector)"}},
		{"an empty label is there", `nodeSelector: {kubernetes.io/arch: amd64}`, bare, []string{`label kubernetes.io/arch is "", wanted amd64 (nodeSelector)`}},
		{"nodeName", `nodeName: gpu-1`, gpu, []string{"nodeName is gpu-1"}},

		{"affinity, one term", required(`{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64, riscv64]}, {key: node-group, operator: NotIn, values: [gpu]}, {key: zone, operator: Exists}, {key: kubernetes.io/arch, operator: In, values: [amd64]}]}`), gpu,
			[]string{"affinity: label kubernetes.io/arch is amd64, wanted one of arm64, riscv64, and label node-group is gpu, wanted anything but gpu, and label zone is not there"}},
		{"affinity, one of several terms", required(`{matchExpressions: [{key: zone, operator: Exists}]}, {matchExpressions: [{key: node-group, operator: In, values: [gpu]}]}`), gpu, nil},
		{"affinity, none of several terms", required(`{matchExpressions: [{key: zone, operator: Exists}]}, {matchExpressions: [{key: node-group, operator: DoesNotExist}]}, {}`), gpu,
			[]string{"affinity: none of 3 terms matches: (1) label zone is not there; (2) label node-group is gpu, wanted no such label; (3) the term is empty, and so matches nothing"}},
		{"affinity, numbers", batch + required(`{matchExpressions: [{key: cpus, operator: Gt, values: ["32"]}, {key: cpus, operator: Lt, values: ["8"]}, {key: node-group, operator: Gt, values: ["1"]}]}`), general,
			[]string{"affinity: label cpus is 32, wanted a number above 32, and label cpus is 32, wanted a number below 8, and label node-group is general, wanted a number above 1"}},
		{"affinity to a node's name", required(`{matchFields: [{key: metadata.name, operator: In, values: [gpu-1]}]}`), gpu, []string{"affinity: field metadata.name is gpu-0, wanted gpu-1"}},
		{"affinity that is not valid", required(`{matchExpressions: [{key: cpus, operator: Gt, values: [many]}, {key: node-group, operator: In, values: [gpu]}]}`), gpu,
			[]string{"affinity: label cpus Gt many is not valid, and so matches nothing"}},
		{"affinity without terms", required(""), gpu, []string{"affinity: there is no term, and so nothing matches"}},
		{"preferred affinity is no reason", `affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}]}}`, gpu, nil},

		{"requests", requests(`nvidia.com/gpu: "8", hugepages-2Mi: 4Mi, cpu: "64", memory: 32Gi, fpga: "0"`), gpu, []string{
			"requests cpu 64, the node has 8", "requests hugepages-2Mi 4Mi, the node has none", "requests nvidia.com/gpu 8, the node has 4"}},
		{"a resource that the node lacks", batch + requests(`nvidia.com/gpu: "1", ephemeral-storage: 101Gi, memory: 65Gi`), general, []string{
			"requests memory 65Gi, the node has 64Gi", "requests ephemeral-storage 101Gi, the node has 100Gi", "requests nvidia.com/gpu 1, the node has none"}},
		{"allocatable counts, not capacity", "tolerations: [{operator: Exists}]\n" + requests(`cpu: "8"`), critical, []string{"requests cpu 8, the node has 7910m"}},
		{"containers together, an init container alone", `
containers: [{name: a, resources: {requests: {cpu: "5"}}}, {name: b, resources: {requests: {cpu: "4"}}}]
initContainers: [{name: i, resources: {requests: {cpu: "8"}}}, {name: side, restartPolicy: Always, resources: {requests: {cpu: 1}}}]
overhead: {cpu: 250m}`, gpu, []string{"requests cpu 10250m, the node has 8"}},
		{"the pod's own requests", "resources: {requests: {cpu: 9}}\n" + requests("cpu: 1"), gpu, []string{"requests cpu 9, the node has 8"}},
		{"a node that takes no pods", requests("cpu: 501m"), full, []string{"the node takes no pods", "requests cpu 501m, the node has 500m"}},
		{"a node that does not tell its size", requests("cpu: 64"), bare, nil},

		{"everything at once", "nodeSelector: {node-group: gpu}\n" + requests(`cpu: "64"`) + required(`{matchExpressions: [{key: tier, operator: DoesNotExist}]}`), critical, []string{
			"taint workload-type=batch:NoSchedule is not tolerated", "taint tier=critical:NoSchedule is not tolerated", "taint maintenance:NoExecute is not tolerated",
			"label node-group is general, wanted gpu (nodeSelector)", "affinity: label tier is critical, wanted no such label", "requests cpu 64, the node has 7910m"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, r := range Node(read[corev1.PodSpec](t, test.pod), read[corev1.Node](t, test.node)) {
				got = append(got, r.String())
			}
			if g, w := strings.Join(got, "\n"), strings.Join(test.want, "\n"); g != w {
				t.Errorf("got\n%s\nwant\n%s", g, w)
			}
		})
	}
}

// read reads a Kubernetes type as it is written in a manifest.
func read[T any](t *testing.T, text string) *T {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	var v T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, &v, true); err != nil {
		t.Fatal(err)
	}
	return &v
}
