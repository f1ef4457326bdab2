package conformance

import (
	"os/exec"
	"testing"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var cluster *devplanetest.Cluster

// The batch pools are tainted; a pod that says nothing lands nowhere.
const nodes = `
version: 1
pools:
- name: real
  kind: real
  count: 1
  taints: [{key: workload-type, value: batch, effect: NoSchedule}]
- name: process
  kind: process
  count: 3
  taints: [{key: workload-type, value: batch, effect: NoSchedule}]
  labels: {example.com/spread: "yes"}
  capacity: {cpu: "4", memory: 8Gi, nvidia.com/gpu: "1"}
`

func TestMain(m *testing.M) {
	devplanetest.Main(m, &cluster, nodes)
}

const (
	real    = "real"
	process = "process"
)

// podOf reads a pod and pins it to a kind of node by label, never by name: the scheduler places it.
func podOf(t *testing.T, text, kind string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), pod); err != nil {
		t.Fatal(err)
	}
	if pod.Name == "" {
		pod.Name = "pod"
	}
	if pod.Spec.RestartPolicy == "" {
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "workload-type", Operator: corev1.TolerationOpEqual, Value: "batch", Effect: corev1.TaintEffectNoSchedule})
	if pod.Spec.NodeSelector == nil {
		pod.Spec.NodeSelector = map[string]string{}
	}
	if kind != "" {
		pod.Spec.NodeSelector["devplane.berth.dev/kind"] = kind
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Image == "" {
				list[i].Image = "devplane/busybox:1"
			}
		}
	}
	return pod
}

func hasKubectl() bool {
	_, err := exec.LookPath("kubectl")
	return err == nil
}
