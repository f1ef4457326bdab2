package kube

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// summary is what a reading comes to, in a line. Times and names of a cluster's own are left out.
func summary(o run.Observation) string {
	var b strings.Builder
	b.WriteString(string(o.Phase))
	if o.Waiting != nil {
		fmt.Fprintf(&b, " %s clock=%s", o.Waiting.Reason, o.Clock)
	}
	if o.End != nil {
		fmt.Fprintf(&b, " %s %s", o.End.Class, o.End.Reason)
		if o.End.ExitCode != nil {
			fmt.Fprintf(&b, " exit=%d", *o.End.ExitCode)
		}
		for _, f := range []struct {
			name string
			is   bool
		}{{"final", o.End.Final}, {"output", o.End.Output != ""}, {"cut", o.End.Cut}} {
			if f.is {
				b.WriteString(" " + f.name)
			}
		}
	}
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"started", o.StartedAt}, {"deletion", o.DeletionAt}, {"silent", o.SilentSince}} {
		if !f.at.IsZero() {
			b.WriteString(" " + f.name)
		}
	}
	return b.String()
}

// Pods that were recorded from kubelets are read as they were when they were recorded.
func TestReadRecorded(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/pods/*.json")
	for _, s := range situations {
		for _, kind := range s.kinds {
			found := false
			for _, f := range files {
				found = found || filepath.Base(f) == s.name+"."+kind+".json"
			}
			if !found {
				t.Errorf("%s was never recorded on a node of kind %s", s.name, kind)
			}
		}
	}
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".")
		s := situation(name)
		if s == nil {
			t.Errorf("%s is of no situation", f)
			continue
		}
		if got := summary(Read(load(t, f))); got != s.want && !slices.Contains(s.or, got) {
			t.Errorf("%s: %s, want %s", f, got, s.want)
		}
	}
}

func situation(name string) *scene {
	for i := range situations {
		if situations[i].name == name {
			return &situations[i]
		}
	}
	return nil
}

func load(t *testing.T, file string) *corev1.Pod {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal(data, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

var (
	began  = metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	finish = metav1.NewTime(began.Add(time.Minute))
)

func terminated(code int32, why string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: why, StartedAt: began, FinishedAt: finish}}
}

func podWith(phase corev1.PodPhase, state corev1.ContainerState, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "step"}}},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "step", State: state}}}}
	for _, c := range change {
		c(p)
	}
	return p
}

func disruptedAt(at metav1.Time, why string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: why, Message: "so it was", LastTransitionTime: at})
	}
}

func because(why string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = why, "its message" }
}

// What can't be had from a kubelet at will.
func TestRead(t *testing.T) {
	t.Parallel()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}
	waits := func(why string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why, Message: why + "!"}}
	}
	notFound := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}}
	hadID := func(p *corev1.Pod) { p.Status.ContainerStatuses[0].ContainerID = "containerd://1" }
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"137 without a reason", podWith(corev1.PodFailed, terminated(137, "")), "ended failure exit_code exit=137 started"},
		{"the step has ended, the pod goes on", podWith(corev1.PodRunning, terminated(0, "Completed")), "ended success completed exit=0 started"},
		{"OOM with exit 0", podWith(corev1.PodSucceeded, terminated(0, "OOMKilled")), "ended oom oom_killed exit=0 started"},
		{"deadline before OOM", podWith(corev1.PodFailed, terminated(137, "OOMKilled"), because("DeadlineExceeded")), "ended timeout deadline_exceeded exit=137 started"},
		{"eviction before OOM", podWith(corev1.PodFailed, terminated(137, "OOMKilled"), because("Evicted")), "ended lost evicted exit=137 started"},
		{"eviction before exit 0", podWith(corev1.PodFailed, terminated(0, "Completed"), because("Evicted")), "ended lost evicted exit=0 started"},
		{"preempted", podWith(corev1.PodFailed, terminated(0, "Completed"), disruptedAt(began, "PreemptionByScheduler")), "ended lost preempted exit=0 started"},
		{"drained", podWith(corev1.PodFailed, terminated(143, "Error"), disruptedAt(began, "EvictionByEvictionAPI")), "ended lost evicted_by_api exit=143 started"},
		{"tainted", podWith(corev1.PodFailed, terminated(143, "Error"), disruptedAt(began, "DeletionByTaintManager")), "ended lost deleted_by_taint_manager exit=143 started"},
		{"collected with its node", podWith(corev1.PodFailed, running, disruptedAt(finish, "DeletionByPodGC")), "ended lost deleted_by_pod_gc started"},
		{"by the kubelet", podWith(corev1.PodFailed, terminated(0, "Completed"), disruptedAt(began, "TerminationByKubelet"), because("Terminated")), "ended lost node_shutdown exit=0 started"},
		{"preempted by the kubelet", podWith(corev1.PodFailed, terminated(137, "Error"), disruptedAt(began, "TerminationByKubelet"), because("Preempting")), "ended lost preempted exit=137 started"},
		{"disrupted after its end", podWith(corev1.PodRunning, terminated(0, "Completed"), disruptedAt(metav1.NewTime(finish.Add(time.Second)), "EvictionByEvictionAPI")), "ended success completed exit=0 started"},
		{"disrupted, and still running", podWith(corev1.PodRunning, running, disruptedAt(began, "EvictionByEvictionAPI")), "running started"},
		{"its container was not found, and had run", podWith(corev1.PodFailed, notFound, hadID), "ended lost vanished"},
		{"its container was not found, and never was", podWith(corev1.PodFailed, notFound), "ended never_started vanished"},
		{"evicted, and its container was not found", podWith(corev1.PodFailed, notFound, because("Evicted"), hadID), "ended lost evicted"},
		{"evicted, and it used to be running", podWith(corev1.PodFailed, waits("ContainerCreating"), because("Evicted"), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].LastTerminationState = notFound
		}), "ended lost evicted"},
		{"evicted before it started", podWith(corev1.PodFailed, waits("ContainerCreating"), because("Evicted")), "ended never_started evicted"},
		{"failed without a status", podWith(corev1.PodFailed, corev1.ContainerState{}, func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), "ended never_started kubelet_refused"},
		{"succeeded without a status", podWith(corev1.PodSucceeded, corev1.ContainerState{}, func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), "ended lost vanished"},
		{"no status yet", podWith(corev1.PodPending, corev1.ContainerState{}, func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }), "waiting starting clock=image"},
		{"phase unknown", podWith(corev1.PodUnknown, running, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: finish}}
		}), "running started silent"},
		{"a readiness gate is no silence", podWith(corev1.PodRunning, running, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady", LastTransitionTime: finish},
				{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}}
		}), "running started"},
		{"its node is silent", podWith(corev1.PodRunning, running, func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: finish},
				{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}}
		}), "running started silent"},
		{"gated", podWith(corev1.PodPending, corev1.ContainerState{}, func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
		}), "waiting scheduling_gate clock="},
		{"back-off", podWith(corev1.PodPending, waits("ImagePullBackOff")), "waiting image_pull clock=image"},
		{"never pulled", podWith(corev1.PodPending, waits("ErrImageNeverPull")), "waiting image_pull clock=image"},
		{"config", podWith(corev1.PodPending, waits("CreateContainerError")), "waiting container_config clock=config"},
		{"invalid image", podWith(corev1.PodPending, waits("InvalidImageName")), "ended never_started image_invalid final"},
		{"output at its bound", podWith(corev1.PodSucceeded, func() corev1.ContainerState {
			s := terminated(0, "Completed")
			s.Terminated.Message = strings.Repeat("a", 4096)
			return s
		}()), "ended success completed exit=0 output cut started"},
		{"four containers have less", podWith(corev1.PodSucceeded, func() corev1.ContainerState {
			s := terminated(0, "Completed")
			s.Terminated.Message = strings.Repeat("a", 3072)
			return s
		}(), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		}), "ended success completed exit=0 output cut started"},
	} {
		if got := summary(Read(test.pod)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		trimmed := test.pod.DeepCopy()
		trim(trimmed)
		if got := summary(Read(trimmed)); got != test.want {
			t.Errorf("%s, trimmed: %s", test.name, got)
		}
	}
}

// A wait that is the same reads the same, or it would look like news with every pause of the kubelet.
func TestPullMessage(t *testing.T) {
	t.Parallel()
	pull := podWith(corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}})
	pause := podWith(corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "x": ErrImagePull: no such image`}})
	if a, b := Read(pull).Waiting, Read(pause).Waiting; *a != *b || a.Reason != reason.ImagePull {
		t.Errorf("%v and %v", a, b)
	}
}

// A deletion's time is when it was asked for.
func TestDeletionAt(t *testing.T) {
	t.Parallel()
	p := podWith(corev1.PodRunning, corev1.ContainerState{})
	over, grace := metav1.NewTime(began.Add(30*time.Second)), int64(30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &over, &grace
	if at := Read(p).DeletionAt; !at.Equal(began.Time) {
		t.Error(at)
	}
}

// A pod that was seen to run has started, though its last status has lost that.
func TestMergeKeepsStart(t *testing.T) {
	t.Parallel()
	running := run.Observation{ID: "a", Phase: run.PhaseRunning, StartedAt: began.Time}
	lost := run.Observation{ID: "a", Phase: run.PhaseEnded, End: &run.End{Outcome: run.Outcome{Class: run.NeverStarted, Reason: reason.Evicted}}}
	got := merge(running, lost)
	if got.End.Class != run.Lost || got.StartedAt.IsZero() || lost.End.Class != run.NeverStarted {
		t.Errorf("%+v", got.End)
	}
	late := run.Observation{ID: "a", Phase: run.PhaseEnded, End: &run.End{Outcome: run.Outcome{Class: run.Success}}}
	if again := merge(merge(got, late), running); again.End.Class != run.Lost || again.Phase != run.PhaseEnded {
		t.Errorf("an end has changed: %+v", again.End)
	}
}
