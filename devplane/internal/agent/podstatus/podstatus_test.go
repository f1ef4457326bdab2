package podstatus

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

var (
	then = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	now  = then.Add(time.Minute)
)

// build makes a pod and the states of its containers from words like "init:i=0 side:s=up main:m=wait".
// A state is wait, up (running and ready), begun (running, not started), an exit code, or
// back/CODE (waiting for a restart after CODE).
func build(t *testing.T, policy corev1.RestartPolicy, words string) (*corev1.Pod, podruntime.States) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Generation: 3}}
	pod.Spec.RestartPolicy = policy
	states := podruntime.States{Sandbox: true}
	for _, word := range strings.Fields(words) {
		kind, rest, _ := strings.Cut(word, ":")
		name, state, _ := strings.Cut(rest, "=")
		c, s := corev1.Container{Name: name, Image: "busybox"}, containerState(t, name, state)
		switch kind {
		case "side":
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			fallthrough
		case "init":
			s.Ready = s.Ready && kind == "side" || kind == "init" && state == "0"
			pod.Spec.InitContainers, states.InitContainers = append(pod.Spec.InitContainers, c), append(states.InitContainers, s)
		case "main":
			pod.Spec.Containers, states.Containers = append(pod.Spec.Containers, c), append(states.Containers, s)
		}
	}
	return pod, states
}

func containerState(t *testing.T, name, state string) corev1.ContainerStatus {
	t.Helper()
	s := corev1.ContainerStatus{Name: name}
	end := func(code string) *corev1.ContainerStateTerminated {
		n, err := strconv.Atoi(code)
		if err != nil {
			t.Fatalf("unknown state %q", state)
		}
		return &corev1.ContainerStateTerminated{ExitCode: int32(n), Reason: "X"}
	}
	switch back, waits := strings.CutPrefix(state, "back/"); {
	case state == "wait":
		return s
	case state == "up", state == "begun":
		s.State.Running = &corev1.ContainerStateRunning{}
		s.Started, s.Ready = ptr.To(state == "up"), state == "up"
	case waits:
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		s.LastTerminationState.Terminated = end(back)
	default:
		s.State.Terminated = end(state)
	}
	s.ContainerID = "process://" + name
	return s
}

// show is a status in one line: the phase, conditions by their initials (lower case: False) with
// reasons, and containers that are not as the runtime said.
func show(s corev1.PodStatus) string {
	var b strings.Builder
	b.WriteString(string(s.Phase))
	if s.Reason != "" {
		b.WriteString("/" + s.Reason)
	}
	for _, c := range s.Conditions {
		name := map[corev1.PodConditionType]string{
			corev1.PodReadyToStartContainers: "Sandbox", corev1.PodInitialized: "Init", corev1.PodReady: "Ready", corev1.ContainersReady: "Containers",
		}[c.Type]
		if name == "" || name == "Containers" && c.Reason == readyReason(s) {
			continue
		}
		if c.Status != corev1.ConditionTrue {
			name = "!" + name
		}
		if c.Reason != "" {
			name += "(" + c.Reason + ")"
		}
		b.WriteString(" " + name)
	}
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for _, c := range list {
			if c.State.Terminated != nil && c.State.Terminated.Reason == "ContainerStatusUnknown" {
				fmt.Fprintf(&b, " %s lost", c.Name)
			}
		}
	}
	return b.String()
}

func readyReason(s corev1.PodStatus) string {
	for _, c := range s.Conditions {
		if c.Type == corev1.PodReady {
			return c.Reason
		}
	}
	return ""
}

func TestStatus(t *testing.T) {
	const never, onFailure, always = corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure, corev1.RestartPolicyAlways
	for _, c := range []struct {
		policy corev1.RestartPolicy
		states string
		ended  bool
		want   string
	}{
		{never, "main:m=wait", false, "Pending Sandbox Init !Ready(ContainersNotReady)"},
		{never, "main:m=up", false, "Running Sandbox Init Ready"},
		{never, "main:m=begun", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{never, "main:m=0 main:n=up", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{never, "main:m=0 main:n=wait", false, "Pending Sandbox Init !Ready(ContainersNotReady)"},
		{never, "main:m=0", true, "Succeeded !Sandbox(PodSandboxNotReady) Init(PodCompleted) !Ready(PodCompleted)"},
		{never, "main:m=0 main:n=7", true, "Failed !Sandbox(PodSandboxNotReady) Init !Ready(PodFailed)"},
		// Init containers hold the pod in Pending; a failed one is the end under Never only.
		{never, "init:i=up main:m=wait", false, "Pending Sandbox !Init(ContainersNotInitialized) !Ready(ContainersNotReady)"},
		{never, "init:i=0 main:m=wait", false, "Pending Sandbox Init !Ready(ContainersNotReady)"},
		{never, "init:i=0 main:m=up", false, "Running Sandbox Init Ready"},
		{never, "init:i=4 init:j=wait main:m=wait", true, "Failed !Sandbox(PodSandboxNotReady) !Init(ContainersNotInitialized) !Ready(PodFailed)"},
		{onFailure, "init:i=back/4 main:m=wait", false, "Pending Sandbox !Init(ContainersNotInitialized) !Ready(ContainersNotReady)"},
		// A terminal phase waits for what still runs.
		{never, "side:s=up init:i=4 main:m=wait", false, "Pending Sandbox !Init(ContainersNotInitialized) !Ready(ContainersNotReady)"},
		{never, "side:s=143 init:i=4 main:m=wait", true, "Failed !Sandbox(PodSandboxNotReady) !Init(ContainersNotInitialized) !Ready(PodFailed)"},
		// Sidecars keep a pod running; their exit codes don't count.
		{never, "side:s=begun main:m=wait", false, "Pending Sandbox !Init(ContainersNotInitialized) !Ready(ContainersNotReady)"},
		{never, "side:s=up main:m=0", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{never, "side:s=137 main:m=0", true, "Succeeded !Sandbox(PodSandboxNotReady) Init(PodCompleted) !Ready(PodCompleted)"},
		{always, "side:s=back/1 main:m=up", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{always, "side:s=begun main:m=up", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		// Between two runs a pod is running.
		{always, "main:m=back/1", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{always, "main:m=0", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{onFailure, "main:m=back/1 main:n=0", false, "Running Sandbox Init !Ready(ContainersNotReady)"},
		{always, "main:m=0", true, "Succeeded !Sandbox(PodSandboxNotReady) Init(PodCompleted) !Ready(PodCompleted)"},
		{always, "main:m=back/0", true, "Failed !Sandbox(PodSandboxNotReady) Init !Ready(PodFailed) m lost"},
		// What ended without an end of its own failed, but not what the pod never came to.
		{never, "main:m=wait", true, "Failed !Sandbox(PodSandboxNotReady) Init !Ready(ContainersNotReady) m lost"},
		{never, "init:i=wait main:m=wait", true, "Failed !Sandbox(PodSandboxNotReady) !Init(ContainersNotInitialized) !Ready(ContainersNotReady) i lost"},
		{never, "init:i=0 main:m=wait", true, "Failed !Sandbox(PodSandboxNotReady) Init !Ready(ContainersNotReady) m lost"},
	} {
		pod, states := build(t, c.policy, c.states)
		got := show(Of(pod, Input{States: states, Ended: c.ended, Now: now, Started: then}))
		if got != c.want {
			t.Errorf("%s %s ended=%t:\n got %s\nwant %s", c.policy, c.states, c.ended, got, c.want)
		}
	}
}

func TestStatusKeepsWhatOthersWrote(t *testing.T) {
	pod, states := build(t, corev1.RestartPolicyNever, "main:m=up")
	early := metav1.NewTime(then)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort, NominatedNodeName: "n",
		Conditions: []corev1.PodCondition{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: early},
			{Type: "example.com/gate", Status: corev1.ConditionFalse},
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: early},
		},
	}
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	s := Of(pod, Input{States: states, Address: "127.0.0.1", Started: then, Now: now})
	if got := show(s); got != "Running Sandbox Init !Ready(ReadinessGatesNotReady) Containers" {
		t.Errorf("got %s", got)
	}
	times := map[corev1.PodConditionType]metav1.Time{}
	for _, c := range s.Conditions {
		times[c.Type] = c.LastTransitionTime
	}
	if !times[corev1.DisruptionTarget].Time.Equal(then) || !times[corev1.PodScheduled].Time.Equal(then) || !times[corev1.PodInitialized].Time.Equal(now) {
		t.Errorf("times are %v", times)
	}
	if s.QOSClass != corev1.PodQOSBestEffort || s.NominatedNodeName != "n" || s.PodIP != "127.0.0.1" || !s.StartTime.Time.Equal(then) || s.ObservedGeneration != 3 {
		t.Errorf("got %+v", s)
	}
	pod.Status = s
	if again := Of(pod, Input{States: states, Address: "127.0.0.1", Started: now, Now: now.Add(time.Hour)}); !equality.Semantic.DeepEqual(again, s) {
		t.Errorf("nothing happened, but the status changed:\n%v\n%v", s, again)
	}
}

func TestFailure(t *testing.T) {
	failure := &Failure{Reason: "DeadlineExceeded", Message: "too long"}
	pod, states := build(t, corev1.RestartPolicyNever, "main:m=up")
	if got := show(Of(pod, Input{States: states, Failure: failure})); !strings.HasPrefix(got, "Running ") {
		t.Errorf("it fails before it has ended: %s", got)
	}
	pod, states = build(t, corev1.RestartPolicyNever, "main:m=0")
	s := Of(pod, Input{States: states, Failure: failure, Ended: true})
	if got := show(s); got != "Failed/DeadlineExceeded !Sandbox(PodSandboxNotReady) Init !Ready(PodFailed)" || s.Message != "too long" {
		t.Errorf("got %s, message %q", got, s.Message)
	}
	// A terminal phase that is in the API already stays, with its reason.
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	if got := show(Of(pod, Input{States: states, Ended: true})); !strings.HasPrefix(got, "Failed/Evicted ") {
		t.Errorf("got %s", got)
	}
}

func TestLongMessagesShareTheLimit(t *testing.T) {
	pod, states := build(t, corev1.RestartPolicyNever, "init:i=0 main:m=0 main:n=0 main:o=0")
	for i := range states.Containers {
		states.Containers[i].State.Terminated.Message = strings.Repeat("x", 4096)
	}
	for _, c := range Of(pod, Input{States: states, Ended: true}).ContainerStatuses {
		if got := len(c.State.Terminated.Message); got != 3072 {
			t.Errorf("%s: %d bytes, want a quarter of 12 KiB", c.Name, got)
		}
	}
}

func TestLost(t *testing.T) {
	for _, c := range []struct {
		policy corev1.RestartPolicy
		states string
		ran    bool
		phase  corev1.PodPhase // of what is left
	}{
		{corev1.RestartPolicyNever, "main:m=wait", false, corev1.PodPending},
		{corev1.RestartPolicyNever, "main:m=up", true, corev1.PodFailed},
		{corev1.RestartPolicyNever, "main:m=0 main:n=up", true, corev1.PodFailed},
		{corev1.RestartPolicyNever, "init:i=up main:m=wait", true, corev1.PodFailed},
		{corev1.RestartPolicyNever, "side:s=up main:m=0", true, corev1.PodSucceeded},
		{corev1.RestartPolicyOnFailure, "main:m=up", true, corev1.PodRunning},
		{corev1.RestartPolicyAlways, "init:i=0 main:m=up", true, corev1.PodRunning},
	} {
		pod, states := build(t, c.policy, c.states)
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses = states.InitContainers, states.Containers
		s, ran := Lost(pod)
		phase := Phase(pod, append(append([]corev1.ContainerStatus(nil), s.InitContainerStatuses...), s.ContainerStatuses...), false)
		if ran != c.ran || phase != c.phase {
			t.Errorf("%s %s: ran=%t phase=%s, want %t %s", c.policy, c.states, ran, phase, c.ran, c.phase)
		}
		for _, m := range s.ContainerStatuses {
			if m.State.Running != nil {
				t.Errorf("%s: %s still runs", c.states, m.Name)
			}
		}
	}
	pod, states := build(t, corev1.RestartPolicyAlways, "main:m=up")
	pod.Status.ContainerStatuses = states.Containers
	s, _ := Lost(pod)
	m := s.ContainerStatuses[0]
	if m.RestartCount != 1 || m.LastTerminationState.Terminated.ExitCode != 137 || m.LastTerminationState.Terminated.Reason != "ContainerStatusUnknown" || m.ContainerID != "" {
		t.Errorf("got %+v", m)
	}
	if pod.Status.ContainerStatuses[0].State.Running == nil {
		t.Error("the argument was changed")
	}
}

func TestRejected(t *testing.T) {
	pod, _ := build(t, corev1.RestartPolicyNever, "main:m=wait")
	s := Rejected(pod, Failure{Reason: "OutOfcpu", Message: "no cpu"}, now)
	if s.Phase != corev1.PodFailed || s.Reason != "OutOfcpu" || s.Message != "Pod was rejected: no cpu" || !s.StartTime.Time.Equal(now) {
		t.Errorf("got %+v", s)
	}
}
