package process

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		code         int32
		reason       string
	}{
		{"success", "exit 0", 0, "Completed"},
		{"failure", "exit 7", 7, "Error"},
		// PID 1 gets no signal that it does not handle, not even from itself.
		{"signal to PID 1 is ignored", "kill -TERM 1; exit 3", 3, "Error"},
		{"a trap is obeyed", "trap 'exit 9' TERM; kill -TERM 1; exit 3", 9, "Error"},
		{"death by a signal", "sh -c 'kill -KILL $$$$'; exit $?", 137, "Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needNamespaces(t)
			x := try(t, newPod(sh("main", c.script)))
			term := x.expect("main", c.code, c.reason)
			if term.StartedAt.IsZero() || term.FinishedAt.Before(&term.StartedAt) || term.ContainerID != "process://"+x.id("main") {
				t.Errorf("times or ID are wrong: %+v", term)
			}
		})
	}
}

// needNamespaces skips nothing where they can be had: as root on Linux.
func needNamespaces(t *testing.T) {
	t.Helper()
	if !thisPlatform().namespaces {
		t.Skip("needs root on Linux")
	}
}

func TestCommandThatIsMissing(t *testing.T) {
	t.Parallel()
	c := sh("main", "")
	c.Command = []string{"no-such-command"}
	term := try(t, newPod(c)).expect("main", 128, "StartError")
	if want := `exec: "no-such-command": executable file not found in $PATH`; !strings.Contains(term.Message, want) {
		t.Errorf("message is %q, want %q in it", term.Message, want)
	}
}

func TestContainerIsByItself(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	const mark = "/devplane-test-mark"
	x := try(t, newPod(sh("main", `
		echo pid=$$$$ host=$(hostname) env=$(env | sort | tr '\n' ' ')
		echo processes=$(ls -d /proc/[0-9]* | wc -l)
		touch `+mark+` && rm -rf /etc/passwd && echo wrote
		touch /sys/x 2>/dev/null || echo sys is read-only
		mount -t tmpfs x /mnt 2>/dev/null || echo no mounts
		echo message > /dev/termination-log
		ls /tmp | wc -l`)))
	term := x.expect("main", 0, "Completed")
	log := x.log("main")
	for _, want := range []string{"pid=1 host=pod ", "HOME=/ HOSTNAME=pod KUBERNETES_SERVICE_HOST=127.0.0.1", "wrote", "sys is read-only", "no mounts", "\n0\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
	if term.Message != "message\n" {
		t.Errorf("termination message is %q", term.Message)
	}
	if _, err := os.Stat(mark); !os.IsNotExist(err) {
		t.Errorf("the container wrote to the machine: %v", err)
	}
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Errorf("the container removed a file of the machine: %v", err)
	}
	if mounts, _ := os.ReadFile("/proc/self/mounts"); strings.Contains(string(mounts), x.r.cfg.Dir) {
		t.Errorf("mounts are left behind:\n%s", mounts)
	}
}

func TestPowerCut(t *testing.T) {
	t.Parallel()
	x := try(t, newPod(sh("main", `trap '' TERM; echo up; while :; do sleep 1000; done`)))
	x.awaitLog("main", "up")
	x.power()
	<-x.done
	if x.r.isRunning(x.id("main")) {
		t.Error("the container outlived its node")
	}
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	t.Run("SIGTERM is enough", func(t *testing.T) {
		t.Parallel()
		x := try(t, newPod(sh("main", `trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done`)))
		x.awaitLog("main", "up")
		x.ctl.Stop(patience)
		x.expect("main", 5, "Error")
		if log := x.log("main"); log != "up\nbye\n" {
			t.Errorf("log is %q", log)
		}
	})
	t.Run("SIGKILL comes when the time is over", func(t *testing.T) {
		t.Parallel()
		x := try(t, newPod(sh("main", `trap '' TERM; echo up; while :; do sleep 1000; done`)))
		x.awaitLog("main", "up")
		x.ctl.Stop(time.Hour)
		x.ctl.Stop(0) // a shorter grace period replaces a longer one
		x.expect("main", 137, "Error")
		if !x.hasEvent("main: Killing: Stopping container main")() {
			t.Errorf("events: %q", x.events)
		}
	})
	t.Run("there is always time for SIGTERM", func(t *testing.T) {
		t.Parallel()
		x := try(t, newPod(sh("main", `trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done`)))
		x.awaitLog("main", "up")
		x.ctl.Stop(0)
		x.expect("main", 5, "Error")
	})
	t.Run("a pod that waits never starts", func(t *testing.T) {
		t.Parallel()
		pod := newPod(sh("main", "exit 0", func(c *corev1.Container) { c.Image = "devplane.invalid/hang" }))
		x := try(t, pod)
		x.await("a first report", func() bool { return len(x.seen) > 0 })
		x.ctl.Stop(patience)
		<-x.done
		if s := status(x.states, "main"); s.State.Terminated != nil || s.ContainerID != "" {
			t.Errorf("it ran: %s", brief(x.states))
		}
	})
}

func TestHooks(t *testing.T) {
	t.Parallel()
	c := sh("main", `trap 'echo terminated; exit 0' TERM; while :; do sleep 0.01; done`)
	command := func(script string) *corev1.LifecycleHandler {
		return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", script}}}
	}
	c.Lifecycle = &corev1.Lifecycle{PostStart: command("echo started > /proc/1/fd/1"), PreStop: command("echo stopping > /proc/1/fd/1")}
	needNamespaces(t)
	x := try(t, newPod(c))
	x.awaitState("main", "started", func(s corev1.ContainerStatus) bool { return ptr.Deref(s.Started, false) })
	x.ctl.Stop(patience)
	x.expect("main", 0, "Completed")
	if log := x.log("main"); log != "started\nstopping\nterminated\n" {
		t.Errorf("log is %q", log)
	}
}

func TestInitContainersAndSidecars(t *testing.T) {
	t.Parallel()
	pod := newPod(sh("main", `cat /d/order; test -e /d/ready && echo after the probe`, mounted("d", "/d")))
	pod.Spec.Volumes = []corev1.Volume{emptyDir("d")}
	first := sidecar(sh("first", `trap 'test -e /d/over && exit 1; exit 2' TERM; echo first >> /d/order; while :; do sleep 0.01; done`, mounted("d", "/d")))
	second := sidecar(sh("second", `trap 'sleep 0.1; touch /d/over; exit 1' TERM; echo second >> /d/order; touch /d/ready; while :; do sleep 0.01; done`, mounted("d", "/d")))
	second.StartupProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/d/ready"}}},
		PeriodSeconds: 1, FailureThreshold: 20, TimeoutSeconds: 5,
	}
	needNamespaces(t)
	pod.Spec.InitContainers = []corev1.Container{
		sh("init", `echo init >> /d/order`, mounted("d", "/d")), first, second,
	}
	x := try(t, pod)
	x.expect("main", 0, "Completed")
	if log := x.log("main"); !strings.HasPrefix(log, "init\n") || !strings.HasSuffix(log, "after the probe\n") || strings.Count(log, "\n") != 4 {
		t.Errorf("log is %q", log)
	}
	var order []string
	for _, e := range x.events {
		if name, created := strings.CutSuffix(e, ": Created: Container created"); created {
			order = append(order, name)
		}
	}
	if !slices.Equal(order, []string{"init", "first", "second", "main"}) {
		t.Errorf("order was %q", order)
	}
	// The first is asked to end when the second is over, and finds that it is.
	x.expect("first", 1, "Error")
	x.expect("second", 1, "Error")
	if s := status(x.states, "init"); !s.Ready || s.State.Terminated == nil {
		t.Errorf("init: %+v", s)
	}
}

func TestInitFailureEndsThePod(t *testing.T) {
	t.Parallel()
	pod := newPod(sh("main", "exit 0"))
	pod.Spec.InitContainers = []corev1.Container{sh("one", "exit 3"), sh("two", "exit 0")}
	x := try(t, pod)
	x.expect("one", 3, "Error")
	for _, name := range []string{"two", "main"} {
		if s := status(x.states, name); s.State != (corev1.ContainerState{}) {
			t.Errorf("%s: %+v", name, s.State)
		}
	}
}

func TestReadinessProbe(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	c := sh("main", `echo up; until test -e /d/go; do sleep 0.01; done; touch /tmp/ready; while :; do sleep 0.01; done`, mounted("d", "/d"))
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/tmp/ready"}}},
		PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 5,
	}
	pod := newPod(c)
	dir := t.TempDir()
	pod.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}}
	x := try(t, pod)
	x.await("the probe to fail", x.hasEvent("main: Unhealthy: Readiness probe failed"))
	x.awaitState("main", "started but not ready", func(s corev1.ContainerStatus) bool { return ptr.Deref(s.Started, false) && !s.Ready })
	if err := os.WriteFile(dir+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	x.awaitState("main", "ready", func(s corev1.ContainerStatus) bool { return s.Ready })
}

func TestLivenessProbeRestarts(t *testing.T) {
	t.Parallel()
	c := sh("main", `trap 'exit 4' TERM; echo up; while :; do sleep 0.01; done`)
	c.LivenessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(1)}},
		PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 1,
	}
	pod := newPod(c)
	pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	pod.Spec.TerminationGracePeriodSeconds = ptr.To(int64(0))
	x := try(t, pod)
	x.awaitState("main", "restarted", func(s corev1.ContainerStatus) bool {
		return s.RestartCount == 1 && s.State.Running != nil && s.LastTerminationState.Terminated.ExitCode != 0
	})
	if !x.hasEvent("main: Killing: Container main failed liveness probe")() {
		t.Errorf("events: %q", x.events)
	}
}

func TestRestarts(t *testing.T) {
	t.Parallel()
	pod := newPod(sh("main", `test -e /d/was && { echo again; exit 2; }; touch /d/was; exit 1`, mounted("d", "/d")))
	pod.Spec.Volumes = []corev1.Volume{emptyDir("d")}
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	needNamespaces(t)
	x := try(t, pod)
	x.awaitState("main", "backing off", func(s corev1.ContainerStatus) bool {
		return s.RestartCount == 1 && s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
	})
	s := status(x.states, "main")
	if want := "back-off 10s restarting failed container=main pod=pod_ns(" + string(pod.UID) + ")"; s.State.Waiting.Message != want {
		t.Errorf("message is %q, want %q", s.State.Waiting.Message, want)
	}
	if last := s.LastTerminationState.Terminated; last == nil || last.ExitCode != 2 {
		t.Errorf("last state is %+v", last)
	}
	x.ctl.Stop(0)
	// A pod that ends waits for no restart: the last end is the end.
	x.expect("main", 2, "Error")
	if last := status(x.states, "main").LastTerminationState.Terminated; last == nil || last.ExitCode != 1 {
		t.Errorf("last state is %+v", last)
	}
}

func TestMagicImages(t *testing.T) {
	t.Parallel()
	withImage := func(image string) *corev1.Pod {
		return newPod(corev1.Container{Name: "main", Image: image})
	}
	t.Run("oom", func(t *testing.T) {
		t.Parallel()
		try(t, withImage("devplane.invalid/oom:1")).expect("main", 137, "OOMKilled")
	})
	t.Run("unpullable", func(t *testing.T) {
		t.Parallel()
		x := try(t, withImage("devplane.invalid/unpullable:1"))
		for _, reason := range []string{"ErrImagePull", "ImagePullBackOff"} {
			x.awaitState("main", reason, func(s corev1.ContainerStatus) bool {
				return s.State.Waiting != nil && s.State.Waiting.Reason == reason && strings.Contains(s.State.Waiting.Message, "devplane.invalid/unpullable:1")
			})
		}
	})
	t.Run("invalid", func(t *testing.T) {
		t.Parallel()
		x := try(t, withImage("UPPER/Bad::x"))
		x.awaitState("main", "InvalidImageName", func(s corev1.ContainerStatus) bool {
			return s.State.Waiting != nil && s.State.Waiting.Reason == "InvalidImageName" &&
				strings.HasPrefix(s.State.Waiting.Message, `Failed to apply default image tag "UPPER/Bad::x": couldn't parse image name`)
		})
	})
}
