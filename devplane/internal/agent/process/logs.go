package process

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/logs"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/util/tail"
	"k8s.io/utils/buffer"
)

// Logs implements podruntime.Runtime with the kubelet's own reader of logs.
func (r *Runtime) Logs(ctx context.Context, pod *corev1.Pod, container, id string, opts *corev1.PodLogOptions, stdout, stderr io.Writer) error {
	path := filepath.Join(r.podDir(pod.UID), "containers", container, id+".log")
	return logs.ReadLogs(ctx, path, id, logOptions(opts, time.Now()), liveness{running: r.isRunning}, stdout, stderr)
}

func logOptions(opts *corev1.PodLogOptions, now time.Time) *logs.LogOptions {
	o := &logs.LogOptions{TailLines: opts.TailLines, LimitBytes: opts.LimitBytes, Follow: opts.Follow, Timestamp: opts.Timestamps}
	switch {
	case opts.SinceSeconds != nil:
		o.Since = now.Add(-time.Duration(*opts.SinceSeconds) * time.Second)
	case opts.SinceTime != nil:
		o.Since = opts.SinceTime.Time
	}
	return o
}

// liveness is as much of a container runtime as a reader of logs asks.
type liveness struct {
	internalapi.RuntimeService
	running func(id string) bool
}

func (l liveness) ContainerStatus(_ context.Context, id string, _ bool) (*runtimeapi.ContainerStatusResponse, error) {
	s := &runtimeapi.ContainerStatus{Id: id, State: runtimeapi.ContainerState_CONTAINER_EXITED}
	if l.running(id) {
		s.State = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: s}, nil
}

// terminationMessage is what a container left: the end of its message, or, if the pod wants that
// and the container failed without one, the end of its log.
func terminationMessage(ctx context.Context, c *corev1.Container, at paths, exitCode int32) string {
	if c.TerminationMessagePath != "" {
		data, _, err := tail.ReadAtMost(at.message, kubecontainer.MaxContainerTerminationMessageLength)
		if err != nil {
			return fmt.Sprintf("Error on reading termination log %s: %v", at.message, err)
		}
		if len(data) > 0 {
			return string(data)
		}
	}
	if exitCode == 0 || c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		return ""
	}
	lines := int64(kubecontainer.MaxContainerTerminationMessageLogLines)
	buf, err := buffer.NewTypedRingFixed[byte](kubecontainer.MaxContainerTerminationMessageLogLength)
	if err == nil {
		err = logs.ReadLogs(ctx, at.log, "", &logs.LogOptions{TailLines: &lines}, nil, buf, buf)
	}
	if err != nil {
		return fmt.Sprintf("Error on reading termination message from logs: %v", err)
	}
	return string(buf.Slice())
}
