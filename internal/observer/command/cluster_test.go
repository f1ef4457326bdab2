package command

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/test/cluster"
)

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// pods waits until there are so many pods that are as wanted, and gives them.
func pods(t *testing.T, c *cluster.Cluster, namespace, selector string, n int, wanted func(*corev1.Pod) bool) []corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	cluster.Eventually(t, "pods", func() bool {
		list, err := c.Client.CoreV1().Pods(namespace).List(cluster.Context(t), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !wanted(&p) })
		return len(found) == n
	})
	return found
}

func isRunning(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }

func isUnschedulable(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
	})
}

// What an API server writes into a pod that asks for nothing is left out, and it does write it.
func TestAdmissionAddsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	apply(t, c, ns, `{apiVersion: v1, kind: Pod, metadata: {name: free}, spec: {containers: [{name: c, image: i}]}}`)
	p := pods(t, c, ns, "", 1, isRunning)[0]
	if n := len(p.Spec.Tolerations); n != 2 || *p.Spec.Tolerations[0].TolerationSeconds != 300 {
		t.Errorf("admission added %d tolerations: the test shows nothing", n)
	}
	if p.Spec.SchedulerName != "default-scheduler" || *p.Spec.TerminationGracePeriodSeconds != 30 || *p.Spec.Priority != 0 || *p.Spec.PreemptionPolicy != "PreemptLowerPriority" {
		t.Errorf("%+v", p.Spec)
	}
	s := runOnce(t, c.Kubeconfig)
	r := s.of(ns, "Pod", "free")
	if len(r) != 1 || r[0].Pod.Placement != nil || r[0].Variant != "44136fa355b3" || r[0].Pod.Nodes[p.Spec.NodeName] != 1 {
		t.Errorf("%+v", r)
	}
}

// A DaemonSet's pods are pinned and tolerate much, and none of that is declared. What is declared is said.
func TestDaemonSet(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	apply(t, c, ns, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: logs}
spec:
  selector: {matchLabels: {app: logs}}
  template:
    metadata: {labels: {app: logs}}
    spec:
      hostNetwork: true
      tolerations: [{key: workload-type, value: batch, effect: NoSchedule}]
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: Exists}]}]}}}
      containers: [{name: c, image: i}]`)
	all := pods(t, c, ns, "app=logs", 3, isRunning)
	if p := all[0]; len(p.Spec.Tolerations) != 1+7 || p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Key != "metadata.name" {
		t.Errorf("the controller added less than is left out: %+v", p.Spec)
	}
	r := runOnce(t, c.Kubeconfig).of(ns, "DaemonSet", "logs")
	if len(r) != 1 || len(r[0].Pod.Nodes) != 3 {
		t.Fatalf("%+v", r)
	}
	p := r[0].Pod.Placement
	if p == nil || len(p.NodeAffinity) != 0 || len(p.Tolerations) != 1 || p.Tolerations[0].Key != "workload-type" || !p.HostNetwork {
		t.Errorf("%+v", p)
	}
}

// A rollout in progress is two records: what runs, and what is on its way and finds no node.
func TestRollout(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	ctx := cluster.Context(t)
	apply(t, c, ns, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {topology.kubernetes.io/zone: a}
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}
      containers: [{name: c, image: "web:1"}]`)
	pods(t, c, ns, "app=web", 2, isRunning)
	elsewhere := `{"spec":{"template":{"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"b"}}}}}` // which is tainted
	if _, err := c.Client.AppsV1().Deployments(ns).Patch(ctx, "web", types.StrategicMergePatchType, []byte(elsewhere), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	pods(t, c, ns, "app=web", 1, isUnschedulable)
	s := runOnce(t, c.Kubeconfig)
	r := s.of(ns, "Deployment", "web")
	if len(r) != 2 || r[0].Variant == r[1].Variant {
		t.Fatalf("%d records: %+v", len(r), r)
	}
	slices.SortFunc(r, func(a, b v1.Record) int { return b.Pod.Replicas - a.Pod.Replicas })
	old, fresh := r[0].Pod, r[1].Pod
	if old.Replicas != 2 || len(old.Nodes) != 2 || old.Placement.NodeSelector["topology.kubernetes.io/zone"] != "a" || len(old.Unscheduled) != 0 {
		t.Errorf("old: %+v", old)
	}
	if fresh.Replicas != 1 || fresh.Unscheduled[v1.ReasonUnschedulable] != 1 || fresh.UnscheduledCauses[v1.CauseUntoleratedTaint] != 1 || fresh.UnscheduledCauses[v1.CauseNodeAffinity] != 1 {
		t.Errorf("new: %+v", fresh)
	}
	anti := old.Placement.PodAntiAffinity
	if len(anti) != 1 || !anti[0].Required || anti[0].Selects != v1.SelectsSelf || anti[0].Namespaces != v1.NamespacesOwn {
		t.Errorf("%+v", anti)
	}
	for _, n := range s.Nodes.Nodes {
		if n.Labels["topology.kubernetes.io/zone"] == "" || n.Labels["kubernetes.io/hostname"] != n.Name || n.Labels["node-group"] != "" {
			t.Errorf("labels of node %s: %v", n.Name, n.Labels)
		}
	}
}

// Owners are followed to the top: a CronJob's pods are one workload, whatever their Jobs are called.
func TestOwners(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	ctx := cluster.Context(t)
	apply(t, c, ns, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}`)
	cron, err := c.Client.BatchV1().CronJobs(ns).Get(ctx, "report", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // as `kubectl create job --from` does
		job := &cron.Spec.JobTemplate
		yes := true
		made := newJob(job.Spec)
		made.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: cron.Name, UID: cron.UID, Controller: &yes}}
		if _, err := c.Client.BatchV1().Jobs(ns).Create(ctx, made, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	pods(t, c, ns, "", 2, isRunning)
	s := runOnce(t, c.Kubeconfig)
	r := s.of(ns, "CronJob", "report")
	if len(r) != 1 || r[0].Pod.Replicas != 2 {
		t.Errorf("%+v", r)
	}
}

// Nothing that may hold a secret leaves: not in payloads, nor in metrics, nor in what is logged.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	c := shared.Get(t)
	ns := c.Namespace(t)
	apply(t, c, ns, `
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {acme.example/note: hunter2}}
spec:
  hostname: hunter2
  serviceAccountName: default
  volumes: [{name: hunter2, secret: {secretName: hunter2, optional: true}}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {hunter2: hunter2}}, namespaces: [hunter2]}]}}
  containers:
  - name: c
    image: i
    command: [run, hunter2]
    args: [--password=hunter2]
    workingDir: /hunter2
    env: [{name: HUNTER2, value: hunter2}, {name: A, valueFrom: {secretKeyRef: {name: hunter2, key: hunter2, optional: true}}}]
    envFrom: [{secretRef: {name: hunter2, optional: true}}]
    lifecycle: {preStop: {exec: {command: [hunter2]}}}
    readinessProbe: {exec: {command: [hunter2]}}
    volumeMounts: [{name: hunter2, mountPath: /hunter2}]`)
	pods(t, c, ns, "", 1, isRunning)
	address := freeAddress(t)
	r := start(t, c.Kubeconfig, "", "--listen", address)
	s := r.until("the pod is said", func(s *said) bool { return len(s.of(ns, "Pod", "p")) == 1 })
	text := string(s.Bytes) + scrape(t, address) + r.stderr.String()
	for _, word := range []string{"hunter2", "HUNTER2"} {
		if found := index(text, word); found != "" {
			t.Errorf("%s is said: %s", word, found)
		}
	}
}
