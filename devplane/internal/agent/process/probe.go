package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	remote "k8s.io/cri-client/pkg"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
	utilexec "k8s.io/utils/exec"
	"k8s.io/utils/ptr"
)

// probe runs a container's probes until it ends: first the startup probe, alone, then the others.
func (p *podRun) probe(ctx, lives context.Context, r *record, x *run) {
	c := r.c
	if s := c.StartupProbe; s != nil {
		passed := p.repeat(ctx, r, x, s, "Startup", func(ok bool) bool { return false })
		if ctx.Err() != nil {
			return
		}
		if !passed {
			p.send(func() { p.doomed(lives, r, x, s, "startup") })
			return
		}
	}
	p.send(func() {
		if r.run == x && r.state == running {
			r.started, r.ready = true, c.ReadinessProbe == nil
		}
	})
	var both sync.WaitGroup
	defer both.Wait()
	if s := c.ReadinessProbe; s != nil {
		both.Go(func() {
			p.repeat(ctx, r, x, s, "Readiness", func(ok bool) bool {
				p.send(func() {
					if r.run == x && r.state == running {
						r.ready = ok
					}
				})
				return true
			})
		})
	}
	if s := c.LivenessProbe; s != nil {
		both.Go(func() {
			failed := false
			p.repeat(ctx, r, x, s, "Liveness", func(ok bool) bool { failed = !ok; return ok })
			if failed && ctx.Err() == nil {
				p.send(func() { p.doomed(lives, r, x, s, "liveness") })
			}
		})
	}
}

// doomed ends a run whose probe failed, unless it is over or the pod is ending.
func (p *podRun) doomed(lives context.Context, r *record, x *run, s *corev1.Probe, kind string) {
	if r.run == x && r.state == running && !p.ending {
		p.doom(lives, r, s, kind)
	}
}

// repeat probes once each period, and calls verdict each time when one of the thresholds has been
// reached, until that returns false. It returns the last verdict.
func (p *podRun) repeat(ctx context.Context, r *record, x *run, s *corev1.Probe, kind string, verdict func(ok bool) bool) bool {
	if !sleep(ctx, time.Duration(s.InitialDelaySeconds)*time.Second) {
		return false
	}
	ticker := time.NewTicker(time.Duration(max(1, s.PeriodSeconds)) * time.Second)
	defer ticker.Stop()
	last, times := false, 0
	for {
		result, output, err := p.untilDone(ctx, r.c, x, s)
		if ctx.Err() != nil {
			return false
		}
		ok := err == nil && (result == probe.Success || result == probe.Warning)
		switch {
		case err != nil:
			p.ctl.Event(r.c, corev1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe errored and resulted in %s state: %v", kind, result, err))
		case !ok:
			p.ctl.Event(r.c, corev1.EventTypeWarning, "Unhealthy", fmt.Sprintf("%s probe failed: %s", kind, output))
		}
		// A probe that could not be made says nothing about the container.
		if err == nil {
			if ok != last {
				last, times = ok, 0
			}
			times++
			threshold := max(1, s.FailureThreshold)
			if ok {
				threshold = max(1, s.SuccessThreshold)
			}
			if times >= int(threshold) && !verdict(ok) {
				return ok
			}
		}
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
}

// untilDone probes, but no longer than until ctx is done: the kubelet's probes know only their
// timeout, and the end of a pod does not wait for that.
func (p *podRun) untilDone(ctx context.Context, c *corev1.Container, x *run, s *corev1.Probe) (result probe.Result, output string, err error) {
	done := make(chan func(), 1)
	go func() {
		a, b, c := p.once(ctx, c, x, s)
		done <- func() { result, output, err = a, b, c }
	}()
	select {
	case f := <-done:
		f()
	case <-ctx.Done():
		err = ctx.Err()
	}
	return result, output, err
}

// once probes.
func (p *podRun) once(ctx context.Context, c *corev1.Container, x *run, s *corev1.Probe) (probe.Result, string, error) {
	timeout := time.Duration(max(1, s.TimeoutSeconds)) * time.Second
	address := p.r.cfg.Address
	switch {
	case s.Exec != nil:
		argv := kubecontainer.ExpandContainerCommandOnlyStatic(s.Exec.Command, c.Env)
		out, err := runner{p.r, x.task}.RunInContainer(ctx, kubecontainer.ContainerID{}, argv, timeout)
		return execResult(out, err)
	case s.HTTPGet != nil:
		req, err := httpprobe.NewRequestForHTTPGetAction(s.HTTPGet, c, address, "probe")
		if err != nil {
			return probe.Unknown, "", err
		}
		return httpprobe.New(false).Probe(req, timeout)
	case s.TCPSocket != nil:
		port, err := probe.ResolveContainerPort(s.TCPSocket.Port, c)
		if err != nil {
			return probe.Unknown, "", err
		}
		host := s.TCPSocket.Host
		if host == "" {
			host = address
		}
		return tcpprobe.New().Probe(host, port, timeout)
	case s.GRPC != nil:
		return grpcprobe.New().Probe(address, ptr.Deref(s.GRPC.Service, ""), int(s.GRPC.Port), timeout, grpcprobe.ProbeOptions{})
	}
	return probe.Unknown, "", errors.New("missing probe handler")
}

// execResult reads the end of a probe's command.
func execResult(out []byte, err error) (probe.Result, string, error) {
	const most = 10 << 10
	text, _ := io.ReadAll(io.LimitReader(bytes.NewReader(out), most))
	var exit utilexec.ExitError
	switch {
	case err == nil:
		return probe.Success, string(text), nil
	case errors.As(err, &exit):
		return probe.Failure, string(text), nil
	case errors.Is(err, remote.ErrCommandTimedOut):
		return probe.Failure, err.Error(), nil
	}
	return probe.Unknown, "", err
}
