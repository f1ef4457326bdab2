package process

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// killWindow is the least time between SIGTERM and SIGKILL, however short the grace period.
const killWindow = 2 * time.Second

// stop is a running container on its way to its end: its preStop hook, its turn, SIGTERM, SIGKILL.
type stop struct {
	// deadline is the container's own, of a failed probe; the zero time if only the pod's counts.
	deadline time.Time
	hooked   bool // the preStop hook is over
	termed   time.Time
}

// advanceStops takes each container that is to end one step further, and says when to look again.
func (p *podRun) advanceStops(lives context.Context, now time.Time) time.Time {
	var wake time.Time
	for _, r := range p.records {
		switch {
		case r.state != running:
			continue
		case p.power:
			r.run.kill()
			continue
		case p.ending && r.stop == nil:
			p.beginStop(lives, r, time.Time{}, "Stopping container "+r.c.Name)
		case r.stop == nil:
			continue
		}
		deadline := r.stop.deadline
		if p.ending {
			deadline = sooner(deadline, now.Add(p.ctl.Grace()))
		}
		if r.stop.termed.IsZero() {
			if now.Before(deadline) && !(r.stop.hooked && p.turn(r)) {
				wake = sooner(wake, deadline)
				continue
			}
			r.stop.termed = now
			r.run.terminate()
		}
		kill := r.stop.termed.Add(killWindow)
		if deadline.After(kill) {
			kill = deadline
		}
		if now.Before(kill) {
			wake = sooner(wake, kill)
		} else {
			r.run.kill()
		}
	}
	return wake
}

// beginStop begins a container's end with its preStop hook.
func (p *podRun) beginStop(lives context.Context, r *record, deadline time.Time, message string) {
	r.stop = &stop{deadline: deadline, hooked: true}
	p.ctl.Event(r.c, corev1.EventTypeNormal, "Killing", message)
	if r.c.Lifecycle == nil || r.c.Lifecycle.PreStop == nil || r.run.task == nil {
		return
	}
	s, x := r.stop, r.run
	s.hooked = false
	p.background.Go(func() {
		ctx, cancel := x.context(lives)
		defer cancel()
		if _, err := p.hook(ctx, r.c, x, r.c.Lifecycle.PreStop); err != nil {
			p.ctl.Event(r.c, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed")
		}
		p.send(func() { s.hooked = true })
	})
}

// turn says whether a container may be asked to end: sidecars only after all main containers, and
// then the last one first.
func (p *podRun) turn(r *record) bool {
	if !r.side || !p.ending {
		return true
	}
	after := false
	for _, o := range p.records {
		if o.live() && (after || !o.side && !o.init) {
			return false
		}
		after = after || o == r
	}
	return true
}

// doom ends a container whose probe failed.
func (p *podRun) doom(lives context.Context, r *record, probe *corev1.Probe, kind string) {
	if r.stop != nil {
		return
	}
	grace := p.grace()
	if own := probe.TerminationGracePeriodSeconds; own != nil {
		grace = time.Duration(*own) * time.Second
	}
	what := "Container"
	if r.side {
		what = "Init container"
	}
	p.beginStop(lives, r, time.Now().Add(grace), fmt.Sprintf("%s %s failed %s probe", what, r.c.Name, kind))
}

func (x *run) terminate() {
	if x.task != nil {
		x.task.terminate()
	}
}

func (x *run) kill() {
	if x.task != nil {
		x.task.kill()
	}
}

// context ends with the run.
func (x *run) context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-x.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
