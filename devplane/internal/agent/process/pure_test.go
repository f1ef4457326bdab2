package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// TestNext draws what is started when. A container is a word: init:, side: or main:, a name, and a
// state: wait, start (being started), begun, up, or an exit code, with +10s if its restart is to
// wait for that long.
func TestNext(t *testing.T) {
	const never, onFailure, always = corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways
	for _, c := range []struct {
		policy corev1.RestartPolicy
		states string
		want   string
	}{
		{never, "main:a=wait main:b=wait", "start a b"},
		{never, "main:a=start main:b=up", ""},
		{never, "main:a=0 main:b=up", ""},
		{never, "main:a=0 main:b=7", "over"},
		{onFailure, "main:a=0 main:b=7", "start b"},
		{onFailure, "main:a=0 main:b=7+10s", "wake 10s"},
		{onFailure, "main:a=3+20s main:b=7+10s", "wake 10s"},
		{always, "main:a=0", "start a"},
		// Init containers run one after the other.
		{never, "init:a=wait init:b=wait main:c=wait", "start a"},
		{never, "init:a=up init:b=wait main:c=wait", ""},
		{never, "init:a=0 init:b=wait main:c=wait", "start b"},
		{never, "init:a=0 init:b=0 main:c=wait", "start c"},
		{never, "init:a=1 init:b=wait main:c=wait", "over"},
		{onFailure, "init:a=1+10s init:b=wait main:c=wait", "wake 10s"},
		{always, "init:a=1 init:b=wait main:c=wait", "start a"},
		// A sidecar holds back what follows until it has been started, once.
		{never, "side:s=wait main:m=wait", "start s"},
		{never, "side:s=begun main:m=wait", ""},
		{never, "side:s=up main:m=wait", "start m"},
		{never, "side:s=up side:t=begun init:i=wait main:m=wait", ""},
		{never, "side:s=1+10s main:m=up", "wake 10s"},
		{never, "side:s=1 main:m=wait", "start s"},
		{never, "side:s=1 main:m=up", "start s"},
		{never, "side:s=up main:m=0", "over"},
		// A pod that failed starts no sidecar again.
		{never, "side:s=1 main:m=7", "over"},
		{never, "side:s=1 init:i=7 main:m=wait", "start s"},
		{never, "side:s=up init:i=7 main:m=wait", "over"},
		// Once initialized, init containers are history.
		{always, "init:a=wait main:m=1 main:n=up", "start m"},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy}}
		got := next(pod, parseRecords(t, c.states), noon)
		var words []string
		if len(got.start) > 0 {
			words = append(words, "start")
			for _, r := range got.start {
				words = append(words, r.c.Name)
			}
		}
		if !got.wake.IsZero() {
			words = append(words, "wake", got.wake.Sub(noon).String())
		}
		if got.over {
			words = append(words, "over")
		}
		if text := strings.Join(words, " "); text != c.want {
			t.Errorf("%s %s: %q, want %q", c.policy, c.states, text, c.want)
		}
	}
}

func parseRecords(t *testing.T, words string) []*record {
	t.Helper()
	var rs []*record
	for _, word := range strings.Fields(words) {
		kind, rest, _ := strings.Cut(word, ":")
		name, state, _ := strings.Cut(rest, "=")
		r := &record{c: &corev1.Container{Name: name}, init: kind == "init", side: kind == "side"}
		if r.side {
			r.c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		switch state {
		case "wait":
		case "start":
			r.state = starting
		case "begun", "up":
			r.state, r.started = running, state == "up"
		default:
			code, delay, delayed := strings.Cut(state, "+")
			r.state, r.term = exited, &corev1.ContainerStateTerminated{ExitCode: int32(code[0] - '0')}
			if delayed {
				d, err := time.ParseDuration(delay)
				if err != nil {
					t.Fatal(err)
				}
				r.next = noon.Add(d)
			}
		}
		rs = append(rs, r)
	}
	return rs
}

func TestContainerStatus(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyOnFailure}}
	last := &corev1.ContainerStateTerminated{ExitCode: 4}
	for _, c := range []struct {
		name   string
		r      record
		ending bool
		want   string
	}{
		{"not begun", record{}, false, "waiting"},
		{"ready", record{state: running, started: true, ready: true}, false, "running started ready"},
		{"not ready", record{state: running, started: true}, false, "running started"},
		{"an init container is never ready while it runs", record{init: true, state: running, started: true, ready: true}, false, "running started"},
		{"an init container is ready when it is through", record{init: true, state: exited, term: &corev1.ContainerStateTerminated{}}, false, "exit 0 ready"},
		{"failed, to be restarted at once", record{state: exited, term: last}, false, "exit 4"},
		{"failed, to be restarted later", record{state: exited, term: last, next: noon.Add(time.Second)}, false, "CrashLoopBackOff after 4"},
		{"failed, in a pod that ends", record{state: exited, term: last, next: noon.Add(time.Second)}, true, "exit 4"},
		{"succeeded, never to be restarted", record{state: exited, term: &corev1.ContainerStateTerminated{}, next: noon.Add(time.Second)}, false, "exit 0"},
		{"can't be restarted", record{state: exited, term: last, why: &notStarted{reason: "ErrImagePull"}}, false, "ErrImagePull after 4"},
		{"running again", record{state: running, started: true, ready: true, last: last}, false, "running started ready after 4"},
	} {
		c.r.c = &corev1.Container{Name: "c"}
		s := c.r.status(pod, c.ending, noon)
		got := "waiting"
		switch {
		case s.State.Running != nil:
			got = "running"
		case s.State.Terminated != nil:
			got = fmt.Sprint("exit ", s.State.Terminated.ExitCode)
		case s.State.Waiting != nil:
			got = s.State.Waiting.Reason
		}
		if *s.Started {
			got += " started"
		}
		if s.Ready {
			got += " ready"
		}
		if l := s.LastTerminationState.Terminated; l != nil {
			got += fmt.Sprint(" after ", l.ExitCode)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBackOff(t *testing.T) {
	r := &record{}
	at := noon
	run := func(d time.Duration) time.Duration {
		r.since = at
		at = at.Add(d)
		r.ended(&corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(at)})
		return r.next.Sub(at)
	}
	for i, want := range []time.Duration{0, 10, 20, 40, 80, 160, 300, 300} {
		if got := run(time.Second); got != want*time.Second {
			t.Errorf("run %d: %v, want %v", i, got, want*time.Second)
		}
	}
	if got := run(11 * time.Minute); got != 0 {
		t.Errorf("after a long run: %v, want 0", got)
	}
}

func TestPull(t *testing.T) {
	var p pull
	var got []string
	at := noon
	for at.Sub(noon) < 35*time.Second {
		var why *notStarted
		why, p = p.next("devplane.invalid/x", at)
		got = append(got, at.Sub(noon).String()+" "+why.reason)
		at = why.again
	}
	want := []string{"0s ErrImagePull", "1s ImagePullBackOff", "10s ErrImagePull", "11s ImagePullBackOff", "30s ErrImagePull", "31s ImagePullBackOff"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAct(t *testing.T) {
	for image, want := range map[string]part{
		"busybox": actRun, "docker.io/library/busybox:1": actRun, "x.devplane.invalid/oom": actRun,
		"devplane.invalid/oom": actOOM, "devplane.invalid/oom:1": actOOM, "devplane.invalid/hang:2": actHang,
		"devplane.invalid/unpullable:1": actUnpullable, "devplane.invalid/else": actUnpullable,
		"UPPER/Bad::x": actInvalid, "": actInvalid,
	} {
		if got := act(image); got != want {
			t.Errorf("%q: %v, want %v", image, got, want)
		}
	}
}

func TestBoundingSet(t *testing.T) {
	names := func(set []int) string {
		var s []string
		for _, n := range set {
			s = append(s, capabilityNames[n])
		}
		return strings.Join(s, " ")
	}
	all := len(capabilityNames)
	for _, c := range []struct {
		change *corev1.Capabilities
		want   string
		n      int
	}{
		{nil, "", 14},
		{&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}, "", 0},
		{&corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE", "CAP_CHOWN"}}, "CHOWN NET_BIND_SERVICE", 2},
		{&corev1.Capabilities{Add: []corev1.Capability{"all"}, Drop: []corev1.Capability{"SYS_ADMIN"}}, "", all - 1},
		{&corev1.Capabilities{Add: []corev1.Capability{"SYS_TIME"}}, "", 15},
	} {
		got := boundingSet(c.change)
		if len(got) != c.n || c.want != "" && names(got) != c.want {
			t.Errorf("%+v: %s", c.change, names(got))
		}
	}
}

func TestRefuse(t *testing.T) {
	full, bare := platform{namespaces: true}, platform{uid: 1000}
	change := func(f func(*corev1.Pod)) *corev1.Pod {
		pod := newPod(sh("main", "true"))
		f(pod)
		return pod
	}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		on   platform
		want []string // beginnings
	}{
		{"plain", change(func(*corev1.Pod) {}), full, nil},
		{"plain without namespaces", change(func(*corev1.Pod) {}), bare, nil},
		{"no command", change(func(p *corev1.Pod) { p.Spec.Containers[0].Command = nil }), full, []string{"spec.containers[0].command: missing"}},
		{"no command, but a part", change(func(p *corev1.Pod) { p.Spec.Containers[0] = corev1.Container{Image: "devplane.invalid/oom"} }), full, nil},
		{"several at once", change(func(p *corev1.Pod) {
			p.Spec.HostPID = true
			p.Spec.Volumes = []corev1.Volume{{Name: "n", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}}}
			p.Spec.Containers[0].TTY = true
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"FLY"}}}
		}), full, []string{
			"spec.hostPID", `spec.volumes[0]: volume "n"`, "spec.containers[0].tty", "spec.containers[0].securityContext.privileged",
			"spec.containers[0].securityContext.capabilities: FLY",
		}},
		{"a user that is not mine", change(func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(1)), FSGroup: ptr.To(int64(1))}
		}), bare, []string{"spec.securityContext.fsGroup", "spec.containers[0].securityContext.runAsUser: 1 is not the user 1000"}},
		{"a mount that no variable names", change(func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{emptyDir("a"), emptyDir("b")}
			mounted("a", "/a")(&p.Spec.Containers[0])
			mounted("b", "/b")(&p.Spec.Containers[0])
			mounted("kube-api-access-x", "/var/run/secrets/kubernetes.io/serviceaccount")(&p.Spec.Containers[0])
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "/a/file"}, {Name: "B", Value: "/bb"}}
		}), bare, []string{"spec.containers[0].volumeMounts[1]: no environment variable has the value /b"}},
	} {
		got := refuse(c.pod, c.on)
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && strings.HasPrefix(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPlanProcess(t *testing.T) {
	c := sh("main", "true", func(c *corev1.Container) { c.Args = []string{"$(OUT)"}; c.WorkingDir = "/work/sub" })
	mounts := []mount{
		{volume: volumePath{path: "/m/work"}, target: "/work"},
		{volume: volumePath{path: "/m/deep"}, target: "/work/deep", subPath: "s"},
		{volume: volumePath{path: "/m/token"}, target: "/token", token: true},
	}
	vars := map[string]string{"OUT": "/work/out", "DEEP": "/work/deep", "MSG": "/dev/termination-log", "OTHER": "/workshop"}
	spec, err := planProcess(newPod(), &c, vars, mounts, paths{message: "/m/msg"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"DEEP=/m/deep/s", "HOME=/", "HOSTNAME=pod", "MSG=/m/msg", "OTHER=/workshop", "OUT=/m/work/out", "PATH=" + defaultPath}
	if !slices.Equal(spec.Env, want) {
		t.Errorf("env is %q, want %q", spec.Env, want)
	}
	if spec.Dir != "/m/work/sub" || spec.Argv[3] != "/m/work/out" {
		t.Errorf("dir is %s, command %q", spec.Dir, spec.Argv)
	}
	delete(vars, "DEEP")
	if _, err := planProcess(newPod(), &c, vars, mounts, paths{}); err == nil || !strings.Contains(err.Error(), "/work/deep") {
		t.Errorf("a mount without a way to it: %v", err)
	}
}

func TestPlanMounts(t *testing.T) {
	volumes := map[string]volumePath{"v": {path: "/m/v"}, "ro": {path: "/m/ro", readOnly: true}}
	c := &corev1.Container{Name: "c", VolumeMounts: []corev1.VolumeMount{
		{Name: "v", MountPath: "/a/b/c", SubPathExpr: "$(X)/y"}, {Name: "ro", MountPath: "/a/"}, {Name: "v", MountPath: "/a/b", ReadOnly: true},
	}}
	got, err := planMounts(c, volumes, map[string]string{"X": "x"})
	want := []mount{
		{volume: volumes["ro"], target: "/a", readOnly: true}, {volume: volumes["v"], target: "/a/b", readOnly: true},
		{volume: volumes["v"], subPath: "x/y", target: "/a/b/c"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for sub, want := range map[string]string{"/abs": "absolute", "a/../../b": "'..'"} {
		c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/a", SubPath: sub}}
		if _, err := planMounts(c, volumes, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("sub-path %q: %v", sub, err)
		}
	}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/a", SubPathExpr: "$(NONE)"}}
	if _, err := planMounts(c, volumes, nil); err == nil || err.Error() != "missing value for NONE" {
		t.Errorf("a variable that is missing: %v", err)
	}
}

func TestLogFormat(t *testing.T) {
	l := &logFile{now: func() time.Time { return noon }}
	const stamp = "2030-01-02T12:00:00Z stdout "
	long := strings.Repeat("x", maxLogLine)
	for _, c := range []struct {
		in        string
		end       bool
		out, rest string
	}{
		{"", true, "", ""},
		{"a\nb\n", false, stamp + "F a\n" + stamp + "F b\n", ""},
		{"a\nb", false, stamp + "F a\n", "b"},
		{"a\nb", true, stamp + "F a\n" + stamp + "P b\n", ""},
		{"\n", false, stamp + "F \n", ""},
		{long + "yy\n", false, stamp + "P " + long + "\n" + stamp + "F yy\n", ""},
		{long + "\n", false, stamp + "F " + long + "\n", ""},
		{long, false, "", long},
	} {
		out, rest := l.format("stdout", []byte(c.in), c.end)
		if string(out) != c.out || string(rest) != c.rest {
			t.Errorf("%.20q: out %.60q, rest %.20q", c.in, out, rest)
		}
	}
}
