package conformance

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/devplane/devplanetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// both runs a test on either kind of node.
func both(t *testing.T, test func(t *testing.T, kind string)) {
	t.Parallel()
	for _, kind := range devplanetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, kind)
		})
	}
}

// On a real node a real limit is exceeded; a process node has no limits, and an image that says so.
func TestOOM(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{
		real: `
spec:
  containers:
  - {name: step, command: [tail, /dev/zero], resources: {limits: {memory: 32Mi}}}`,
		process: `
spec:
  containers:
  - {name: step, image: "devplane.invalid/oom:1", command: ["true"]}`,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == real {
				devplanetest.NeedReal(t)
			}
			ns := cluster.Namespace(t)
			cluster.Create(t, ns, podOf(t, text, kind))
			pod := cluster.Pod(t, ns, "pod", devplanetest.Ended)
			phase(t, pod, corev1.PodFailed)
			exit(t, pod, "step", 137, "OOMKilled")
		})
	}
}

// The kernel kills a child; the container goes on and exits 0, and is OOMKilled all the same.
func TestOOMOfAChild(t *testing.T) {
	t.Parallel()
	devplanetest.NeedReal(t)
	ns := cluster.Namespace(t)
	cluster.Create(t, ns, podOf(t, `
spec:
  containers:
  - {name: step, command: [sh, -c, "tail /dev/zero; exit 0"], resources: {limits: {memory: 32Mi}}}`, real))
	pod := cluster.Pod(t, ns, "pod", devplanetest.Ended)
	exit(t, pod, "step", 0, "OOMKilled")
	phase(t, pod, corev1.PodSucceeded)
}

func TestEvictedForEphemeralStorage(t *testing.T) {
	t.Parallel()
	devplanetest.NeedReal(t)
	ns := cluster.Namespace(t)
	cluster.Create(t, ns, podOf(t, `
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: step
    command: [sh, -c, "dd if=/dev/zero of=/tmp/full bs=1M count=20; sleep 1000"]
    resources: {limits: {ephemeral-storage: 2Mi}}`, real))
	pod := cluster.Pod(t, ns, "pod", devplanetest.Ended)
	phase(t, pod, corev1.PodFailed)
	if pod.Status.Reason != "Evicted" || !strings.Contains(pod.Status.Message, "ephemeral") {
		t.Errorf("reason %q, message %q; want Evicted for its ephemeral storage", pod.Status.Reason, pod.Status.Message)
	}
}

// deleted deletes a running pod and returns the last status it had, and when its grace was to
// end. That is what the first event with a deletionTimestamp says; the node's own deletion, once
// all is over, sets it anew.
func deleted(t *testing.T, kind, command string, grace int64) (pod *corev1.Pod, due time.Time) {
	t.Helper()
	ns := cluster.Namespace(t)
	pod = podOf(t, `
spec:
  containers:
  - {name: step, command: [sh, -c, COMMAND]}`, kind)
	pod.Spec.Containers[0].Command[2] = command
	cluster.Create(t, ns, pod)
	ready := cluster.Pod(t, ns, "pod", func(p *corev1.Pod) bool { return p != nil && p.Status.Phase == corev1.PodRunning })
	// The trap is set before the first line of the log.
	stream, err := cluster.Client.CoreV1().Pods(ns).GetLogs("pod", &corev1.PodLogOptions{Follow: true}).Stream(devplanetest.Context(t))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := stream.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	opts := metav1.DeleteOptions{GracePeriodSeconds: &grace, Preconditions: metav1.NewUIDPreconditions(string(ready.UID))}
	pod = cluster.DeletePod(t, ns, "pod", opts, func(p *corev1.Pod) {
		if due.IsZero() {
			due = p.DeletionTimestamp.Time
		}
	})
	return pod, due
}

func TestDeleteTrapped(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		pod, _ := deleted(t, kind, "trap 'exit 5' TERM; echo set; while :; do sleep 0.1; done", 30)
		exit(t, pod, "step", 5, "Error")
	})
}

func TestDeleteIgnored(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		pod, due := deleted(t, kind, "trap '' TERM; echo set; while :; do sleep 0.1; done", 2)
		end := exit(t, pod, "step", 137, "Error")
		// Times in statuses are whole seconds.
		if end.FinishedAt.Time.Before(due.Add(-time.Second)) {
			t.Errorf("killed at %s, before its grace ended at %s", end.FinishedAt, due)
		}
	})
}

// A pod that is deleted while it waits never runs, and goes.
func TestDeletePending(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		ns := cluster.Namespace(t)
		cluster.Create(t, ns, podOf(t, `
spec:
  containers:
  - name: step
    command: [sh, -c, "echo ran > /dev/termination-log"]
    env: [{name: LATE, valueFrom: {configMapKeyRef: {name: late, key: key}}}]`, kind))
		cluster.Pod(t, ns, "pod", devplanetest.Waiting("CreateContainerConfigError"))
		late := false
		last := cluster.DeletePod(t, ns, "pod", metav1.DeleteOptions{}, func(*corev1.Pod) {
			if !late { // now it could start
				late = true
				make1(t, ns, "kind: ConfigMap\nmetadata: {name: late}\ndata: {key: value}")
			}
		})
		for _, s := range last.Status.ContainerStatuses {
			if s.State.Running != nil || s.State.Terminated != nil && !s.State.Terminated.StartedAt.IsZero() {
				t.Errorf("the container started: %+v", s.State)
			}
		}
	})
}

// A pod whose Secret comes late starts then.
func TestLateSecret(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		ns := cluster.Namespace(t)
		cluster.Create(t, ns, podOf(t, `
spec:
  containers:
  - name: step
    command: [sh, -c, "printf $TOKEN > /dev/termination-log"]
    env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: token}}}]`, kind))
		cluster.Pod(t, ns, "pod", devplanetest.Waiting("CreateContainerConfigError"))
		make1(t, ns, "kind: Secret\nmetadata: {name: token}\nstringData: {token: late}")
		pod := cluster.Pod(t, ns, "pod", devplanetest.Ended)
		if end := exit(t, pod, "step", 0, "Completed"); end.Message != "late" {
			t.Errorf("message %q; want the Secret's value", end.Message)
		}
	})
}

func TestClaimKeepsAFile(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		ns := cluster.Namespace(t)
		make1(t, ns, `
kind: PersistentVolumeClaim
metadata: {name: work}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
		const pod = `
metadata: {name: NAME}
spec:
  securityContext: {runAsUser: 1000}
  containers:
  - {name: step, command: [sh, -c, "COMMAND"], volumeMounts: [{name: work, mountPath: /work}]}
  volumes: [{name: work, persistentVolumeClaim: {claimName: work}}]`
		for _, step := range [][2]string{{"first", "echo kept > /work/file"}, {"second", "cat /work/file"}} {
			cluster.Create(t, ns, podOf(t, strings.NewReplacer("NAME", step[0], "COMMAND", step[1]).Replace(pod), kind))
			phase(t, cluster.Pod(t, ns, step[0], devplanetest.Ended), corev1.PodSucceeded)
		}
		logHas(t, cluster.Logs(t, ns, "second", corev1.PodLogOptions{}), "kept\n")
		// The volume goes with its claim.
		ctx := devplanetest.Context(t)
		claim, err := cluster.Client.CoreV1().PersistentVolumeClaims(ns).Get(ctx, "work", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := cluster.Client.CoreV1().Pods(ns).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Client.CoreV1().PersistentVolumeClaims(ns).Delete(ctx, "work", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = devplanetest.Until(ctx, cluster.Client.CoreV1().RESTClient(), "persistentvolumes", "", claim.Spec.VolumeName,
			func(pv *corev1.PersistentVolume) bool { return pv == nil })
		if err != nil {
			t.Errorf("the volume stays: %v", err)
		}
	})
}

// A claim may name its class in the old way.
func TestClaimWithAnnotation(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	make1(t, ns, `
kind: PersistentVolumeClaim
metadata: {name: old, annotations: {volume.beta.kubernetes.io/storage-class: devplane}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}`)
	_, err := devplanetest.Until(devplanetest.Context(t), cluster.Client.CoreV1().RESTClient(), "persistentvolumeclaims", ns, "old",
		func(c *corev1.PersistentVolumeClaim) bool { return c != nil && c.Status.Phase == corev1.ClaimBound })
	if err != nil {
		t.Fatal(err)
	}
}

func TestLogOptions(t *testing.T) {
	both(t, func(t *testing.T, kind string) {
		ns := cluster.Namespace(t)
		cluster.Create(t, ns, podOf(t, `
spec:
  containers:
  - {name: step, command: [sh, -c, "for i in 1 2 3 4 5; do echo line $i; done; printf unfinished"]}`, kind))
		// Followed from the start to the end.
		cluster.Pod(t, ns, "pod", func(p *corev1.Pod) bool { return p != nil && p.Status.Phase != corev1.PodPending })
		all := cluster.Logs(t, ns, "pod", corev1.PodLogOptions{Follow: true})
		if want := "line 1\nline 2\nline 3\nline 4\nline 5\nunfinished"; all != want {
			t.Errorf("followed log %q; want %q", all, want)
		}
		cluster.Pod(t, ns, "pod", devplanetest.Ended)
		two, six := int64(2), int64(6)
		if got := cluster.Logs(t, ns, "pod", corev1.PodLogOptions{TailLines: &two}); got != "line 5\nunfinished" {
			t.Errorf("last two lines: %q", got)
		}
		if got := cluster.Logs(t, ns, "pod", corev1.PodLogOptions{LimitBytes: &six}); got != "line 1" {
			t.Errorf("first six bytes: %q", got)
		}
		stamped := cluster.Logs(t, ns, "pod", corev1.PodLogOptions{Timestamps: true})
		stamp, _, _ := strings.Cut(stamped, " ")
		if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
			t.Errorf("timestamps: %q", stamped)
		}
		if hasKubectl() {
			out, err := exec.Command("kubectl", "--kubeconfig", cluster.Dir+"/kubeconfig", "logs", "-n", ns, "pod").CombinedOutput()
			if err != nil || string(out) != all {
				t.Errorf("kubectl logs: %v: %q", err, out)
			}
		}
	})
}

// What a process node can't do it refuses, all of it at once, and does not run the pod.
func TestRefusals(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	cluster.Create(t, ns, podOf(t, `
spec:
  hostPID: true
  containers:
  - {name: step}
  volumes: [{name: nfs, nfs: {server: "127.0.0.1", path: /}}]`, process))
	pod := cluster.Pod(t, ns, "pod", devplanetest.Ended)
	phase(t, pod, corev1.PodFailed)
	for _, field := range []string{"command", "nfs", "hostPID"} {
		if !strings.Contains(pod.Status.Message, field) {
			t.Errorf("the message names no %s: %s", field, pod.Status.Message)
		}
	}
}

func TestHangingImage(t *testing.T) {
	t.Parallel()
	ns := cluster.Namespace(t)
	cluster.Create(t, ns, podOf(t, `
spec:
  containers:
  - {name: step, image: "devplane.invalid/hang:1", command: ["true"]}`, process))
	phase(t, cluster.Pod(t, ns, "pod", devplanetest.Waiting("ContainerCreating")), corev1.PodPending)
}
