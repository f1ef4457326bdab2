package kube

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
)

// Log reads what the kubelet has of the step's log. Nothing of it is kept.
func (e *Executor) Log(ctx context.Context, ref run.Ref, _ string, follow bool) (io.ReadCloser, error) {
	name := newAttempt(ref).name
	log, err := pods(e.Logs, e.Namespace).log(ctx, name, &corev1.PodLogOptions{Container: plan.StepContainer, Follow: follow})
	if err != nil && noLog(err) {
		return nil, fmt.Errorf("%w: %s", executor.ErrNoLog, short(err))
	}
	if err != nil || follow {
		return log, err
	}
	return unless(log)
}

// removed is what a kubelet answers, as if it were the log, once it has removed the container (kubelet_pods.go,
// GetKubeletContainerLogs, and the runtime's ReadLogs).
var removed = regexp.MustCompile(`^unable to retrieve container logs for [a-z-]+://[0-9a-f]+$`)

// mostRemoved is longer than any such answer.
const mostRemoved = 256

// unless gives the log, unless it is the kubelet's word that there is none.
func unless(log io.ReadCloser) (io.ReadCloser, error) {
	begins := bufio.NewReaderSize(log, mostRemoved)
	if text, err := begins.Peek(mostRemoved); errors.Is(err, io.EOF) && removed.Match(text) {
		log.Close()
		return nil, fmt.Errorf("%w: %s", executor.ErrNoLog, text)
	}
	return struct {
		io.Reader
		io.Closer
	}{begins, log}, nil
}

// noLog says whether the API server, or the kubelet through it, says that there is none: no such pod (404),
// or a container that has not started or is not there any more (400).
func noLog(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	return ok && (status.Status().Code == http.StatusNotFound || status.Status().Code == http.StatusBadRequest)
}
