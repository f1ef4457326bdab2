package podspec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/test/cluster"
)

// Each layer says something of where the pods may run: two node pools are open to them by the operator's
// taints and labels, and the author wants them apart.
const workspaceOperator = `
version: 1
baseline:
  k8s:
    tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]
    nodeSelector: {kubernetes.io/os: linux}
placement_profiles:
  - name: general
    k8s:
      nodeSelector: {tier: standard}
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node-group, operator: In, values: [general]}]}]}}}
environments: [{name: target, permits: {k8s_overlay: true}}]
`

const workspacePipeline = `
version: 1
name: shared
environment: target
workspace: {size: 1Gi}
defaults:
  image: devplane/busybox:1
  resources: {cpu: 50m, memory: 16Mi}
  placement_profiles: [general]
  k8s_overlay:
    terminationGracePeriodSeconds: 1
    labels: {app: shared}
    tolerations: [{key: tier, operator: Exists}]
    affinity:
      nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: devplane.berth.dev/kind, operator: In, values: [process]}]}]}}
      podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/os, labelSelector: {matchLabels: {app: shared}}}}]}
      podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: shared}}}}]}
    topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: shared}}}]
steps:
  - {name: one, command: [sleep, "3600"]}
  - {name: two, command: [sleep, "3600"]}
  - {name: alone, workspace: false, command: [sleep, "3600"]}
`

// Pods of one run that have its ReadWriteOnce volume run on one node, which is one that all layers let them
// run on, though the author would rather have them apart. Neither the pods of another run nor those that do
// without the volume are drawn there.
func TestWorkspaceKeepsPodsTogether(t *testing.T) {
	t.Parallel()
	n := newNamespace(t, profile.BaselineStandard)
	made := planned(t, workspacePipeline, loaded(t, workspaceOperator), pipeline.Input{})
	nodes := map[string]string{}
	for _, r := range []string{run, otherRun} {
		n.claim(t, r, made.Workspace)
		for i := range made.Steps {
			facts := n.facts()
			facts.Run = r
			pod := attempt(t, &made.Steps[i], facts)
			n.accept(t, pod, false)
			// Running: the volume is mounted there. One after the other, so that each is in the way of the next.
			name := ident.PodName(made.Steps[i].ID, r, 1)
			p := n.wait(t, plan.LabelRun+"="+r+","+plan.LabelStep+"="+made.Steps[i].ID, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
			nodes[name] = p.Spec.NodeName
			if !strings.HasPrefix(p.Spec.NodeName, "general-") {
				t.Errorf("%s runs on %s: a layer was not obeyed", name, p.Spec.NodeName)
			}
		}
	}
	node := func(run, step string) string { return nodes[ident.PodName(step, run, 1)] }
	for _, r := range []string{run, otherRun} {
		if node(r, "one") != node(r, "two") {
			t.Errorf("pods of one run with a ReadWriteOnce volume run on %s and %s", node(r, "one"), node(r, "two"))
		}
	}
	if node(run, "alone") == node(run, "one") {
		t.Errorf("the step without the workspace was drawn to %s as well", node(run, "one"))
	}
	if node(run, "one") == node(otherRun, "one") {
		t.Errorf("two runs were drawn to one node, %s", node(run, "one"))
	}
}

// claim makes the volume of a run.
func (n namespace) claim(t *testing.T, run string, w *plan.Workspace) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: strings.ReplaceAll(plan.ClaimName, plan.RunName, strings.ToLower(run))},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(w.AccessMode)},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(w.Size)}},
		},
	}
	if _, err := n.Client.CoreV1().PersistentVolumeClaims(n.name).Create(cluster.Context(t), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
