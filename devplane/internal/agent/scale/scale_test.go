package scale

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
	"github.com/berthdev/berth/devplane/internal/agent/podstatus"
)

func newPod(policy corev1.RestartPolicy) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"},
		Spec: corev1.PodSpec{
			RestartPolicy:  policy,
			InitContainers: []corev1.Container{{Name: "i"}},
			Containers:     []corev1.Container{{Name: "a"}, {Name: "b"}},
		},
	}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy corev1.RestartPolicy
		stop   time.Duration // 0: not stopped
		want   corev1.PodPhase
		after  time.Duration
	}{
		{"completes", corev1.RestartPolicyNever, 0, corev1.PodSucceeded, time.Minute},
		{"is deleted", corev1.RestartPolicyNever, time.Second, corev1.PodFailed, time.Second},
		{"never completes under Always", corev1.RestartPolicyAlways, time.Hour, corev1.PodFailed, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pod := newPod(c.policy)
				var phases []corev1.PodPhase
				report := func(s podruntime.States) {
					ended := s.Containers[0].State.Terminated != nil
					phases = append(phases, podstatus.Of(pod, podstatus.Input{States: s, Ended: ended}).Phase)
				}
				ctl := podruntime.NewControl(report, nil)
				if c.stop > 0 {
					time.AfterFunc(c.stop, func() { ctl.Stop(time.Second) })
				}
				begun := time.Now()
				New(time.Minute).Run(t.Context(), pod, ctl)
				ctl.Release()
				if got := time.Since(begun); got != c.after {
					t.Errorf("it took %v, want %v", got, c.after)
				}
				if len(phases) != 2 || phases[0] != corev1.PodRunning || phases[1] != c.want {
					t.Errorf("phases were %v, want Running, %s", phases, c.want)
				}
			})
		})
	}
}

func TestPowerCut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reports := 0
	ctl := podruntime.NewControl(func(podruntime.States) {
		reports++
		cancel()
	}, nil)
	New(time.Hour).Run(ctx, newPod(corev1.RestartPolicyNever), ctl)
	if reports != 1 {
		t.Errorf("%d reports, want that of the beginning", reports)
	}
}

func TestLogs(t *testing.T) {
	var b bytes.Buffer
	if err := New(0).Logs(t.Context(), newPod(corev1.RestartPolicyNever), "a", "", nil, &b, nil); err != nil {
		t.Fatal(err)
	}
	if want := "container a of pod ns/p is on a scale node, which runs nothing\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
