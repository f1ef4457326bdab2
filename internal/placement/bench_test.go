package placement

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// typicalLayers is what a step of a careful operator and a demanding author comes to: a baseline,
// three profiles, the step, its resources, an overlay and Berth's own.
func typicalLayers(t testing.TB) []Layer {
	return []Layer{
		layer(t, "builtin", `
restartPolicy: Never
enableServiceLinks: false
automountServiceAccountToken: false
containers: [{name: step, securityContext: {allowPrivilegeEscalation: false, seccompProfile: {type: RuntimeDefault}}}]`),
		layer(t, "baseline", `
nodeSelector: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}
tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]
labels: {cost-centre: ci}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions: [{key: pool, operator: In, values: [batch]}]
        - matchExpressions: [{key: pool, operator: In, values: [spare]}]
containers: [{name: step, resources: {requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: 500m, memory: 512Mi}}}]`),
		layer(t, "profile:arm64", `{nodeSelector: {kubernetes.io/arch: arm64}, labels: {team: shop}}`),
		layer(t, "profile:critical", `
priorityClassName: batch-critical
tolerations: [{key: tier, operator: Equal, value: critical, effect: NoSchedule}]`),
		layer(t, "profile:ssd", `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}]
topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]`),
		layer(t, "step", `
containers:
  - name: step
    image: golang:1.26
    command: [make, test]
    env: [{name: CI, value: "1"}, {name: CGO_ENABLED, value: "0"}, {name: TOKEN, valueFrom: {secretKeyRef: {name: t, key: k}}}]
initContainers: [{name: db, image: postgres, restartPolicy: Always, startupProbe: {exec: {command: [pg_isready]}}}]`),
		layer(t, "resources", `containers: [{name: step, resources: {requests: {cpu: "2", memory: 4Gi}, limits: {cpu: "2", memory: 4Gi}}}]`),
		layer(t, "k8s_overlay", `
tolerations: [{$patch: delete, key: tier, operator: Equal, value: critical, effect: NoSchedule}]
topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 2}]
priorityClassName: null`),
		layer(t, "berth", `
labels: {berth.dev/run: 01J, berth.dev/step: test}
volumes: [{name: workspace, emptyDir: {}}]
containers:
  - {name: step, volumeMounts: [{name: workspace, mountPath: /workspace}], env: [{name: BERTH_RUN, value: 01J}]}`),
	}
}

var typicalGoverns = Governs{Locked: []Path{MustPath("tolerations[workload-type:Equal:batch:NoSchedule]"), MustPath(`nodeSelector."kubernetes.io/os"`)}}

// A plan of two thousand steps composes as many pods.
func TestComposeAllocates(t *testing.T) {
	layers := typicalLayers(t)
	result := Compose(layers, typicalGoverns)
	if result.Findings.Len() > 0 || len(result.Origins) < 40 {
		t.Fatalf("%d origins, findings:\n%s", len(result.Origins), result.Findings.Text(nil))
	}
	const most = 1500
	if got := testing.AllocsPerRun(10, func() { Compose(layers, typicalGoverns) }); got > most {
		t.Errorf("%v allocations, want at most %d", got, most)
	}
}

func BenchmarkCompose(b *testing.B) {
	layers := typicalLayers(b)
	b.ReportAllocs()
	for b.Loop() {
		Compose(layers, typicalGoverns)
	}
}

// BenchmarkStrategicMerge merges the same layers as Kubernetes would merge patches: the figure that Compose's
// is to be read against. It has no origins, conflicts, locks and contradictions, and loses what the rules keep.
func BenchmarkStrategicMerge(b *testing.B) {
	meta, err := strategicpatch.NewPatchMetaFromStruct(corev1.PodSpec{})
	if err != nil {
		b.Fatal(err)
	}
	layers := typicalLayers(b)
	for _, l := range layers {
		delete(l.Fragment, "labels") // of the metadata: PodSpec has none
	}
	b.ReportAllocs()
	for b.Loop() {
		pod := map[string]any{}
		for _, l := range layers {
			pod, err = strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(pod, Clone(l.Fragment).(map[string]any), meta)
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
