package process

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// withoutNamespaces has a pod run as elsewhere than on Linux as root.
func withoutNamespaces(x *trial) { x.r.on.namespaces = false }

func TestProcessGroup(t *testing.T) {
	t.Parallel()
	env := func(name, value string) func(*corev1.Container) {
		return func(c *corev1.Container) { c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value}) }
	}
	t.Run("volumes by variable", func(t *testing.T) {
		t.Parallel()
		pod := newPod(sh("main", `echo content > $DIR/file; cat $FILE; echo message > $MSG; env | grep -c KUBE_TEST`, mounted("v", "/v"),
			env("DIR", "/v"), env("FILE", "/v/file"), env("MSG", "/dev/termination-log"), env("KUBE_TEST", "x")))
		pod.Spec.Volumes = []corev1.Volume{emptyDir("v")}
		x := try(t, pod, withoutNamespaces)
		term := x.expect("main", 0, "Completed")
		if log := x.log("main"); log != "content\n1\n" || term.Message != "message\n" {
			t.Errorf("log is %q, message %q", log, term.Message)
		}
	})
	t.Run("a signal ends it", func(t *testing.T) {
		t.Parallel()
		x := try(t, newPod(sh("main", "echo up; exec sleep 1000")), withoutNamespaces)
		x.awaitLog("main", "up")
		x.ctl.Stop(patience)
		x.expect("main", 143, "Error")
	})
	t.Run("the group ends with its leader", func(t *testing.T) {
		t.Parallel()
		// The child holds the log open: the pod would not end if the child did not.
		x := try(t, newPod(sh("main", "sleep 1000 & echo up; exit 6")), withoutNamespaces)
		x.expect("main", 6, "Error")
	})
	t.Run("a command that is missing", func(t *testing.T) {
		t.Parallel()
		c := sh("main", "")
		c.Command = []string{"no-such-command"}
		term := try(t, newPod(c), withoutNamespaces).expect("main", 128, "StartError")
		if !strings.Contains(term.Message, "executable file not found in $PATH") {
			t.Errorf("message is %q", term.Message)
		}
	})
	t.Run("probes", func(t *testing.T) {
		t.Parallel()
		pod := newPod(sh("main", "touch $DIR/up; while :; do sleep 0.01; done", mounted("v", "/v"), env("DIR", "/v")))
		pod.Spec.Volumes = []corev1.Volume{emptyDir("v")}
		pod.Spec.Containers[0].StartupProbe = &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", `test -e "$DIR/up"`}}},
			PeriodSeconds: 1, FailureThreshold: 20, TimeoutSeconds: 5,
		}
		x := try(t, pod, withoutNamespaces)
		x.awaitState("main", "started", func(s corev1.ContainerStatus) bool { return ptr.Deref(s.Started, false) })
	})
	t.Run("power cut", func(t *testing.T) {
		t.Parallel()
		x := try(t, newPod(sh("main", "trap '' TERM; echo up; while :; do sleep 1000; done")), withoutNamespaces)
		x.awaitLog("main", "up")
		x.power()
		<-x.done
	})
}
