package process

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berthdev/berth/devplane/internal/agent/podruntime"
)

// podRun is one pod on its way. One goroutine, the loop, owns the records; all others (starts,
// waits, probes, hooks) hand it what they found out, as functions to call.
type podRun struct {
	r       *Runtime
	pod     *corev1.Pod
	ctl     *podruntime.Control
	records []*record
	volumes map[string]volumePath

	sandbox bool // volumes are there, containers may start
	ending  bool // nothing new is started
	power   bool // lost: everything is killed at once

	events     chan func()
	over       chan struct{} // closed when the loop takes no more events
	background sync.WaitGroup
}

// firstReport is how long a pod may take to get going before it says that it is on its way. Most
// take less, and save a request.
const firstReport = 50 * time.Millisecond

func newPodRun(r *Runtime, pod *corev1.Pod, ctl *podruntime.Control) *podRun {
	return &podRun{
		r: r, pod: pod, ctl: ctl, records: newRecords(pod),
		events: make(chan func()), over: make(chan struct{}),
	}
}

// loop runs the pod to its end.
func (p *podRun) loop(ctx context.Context) {
	starts, cancelStarts := context.WithCancel(ctx) // over when the pod is ending
	lives, cancelLives := context.WithCancel(ctx)   // over when nothing lives any more
	defer cancelStarts()
	defer cancelLives()
	p.background.Go(func() { p.setUpVolumes(starts) })
	talk := time.After(firstReport)
	stopping, killing, power := p.ctl.Stopping(), p.ctl.Killing(), ctx.Done()
	talking := false
	for {
		wake := p.act(starts, lives)
		if p.ending && !p.anyLive() {
			break
		}
		if talking {
			p.report()
		}
		select {
		case f := <-p.events:
			f()
			talking = talking || p.newsworthy()
		case <-talk:
			talking = true
		case <-wake:
		case <-killing:
			killing = nil
		case <-stopping:
			stopping, p.ending = nil, true
			cancelStarts()
		case <-power:
			power, p.ending, p.power = nil, true, true
		}
	}
	cancelLives()
	cancelStarts()
	close(p.over)
	p.background.Wait()
	p.tearDown()
	p.report()
}

// act does what is due, and returns a channel that says when something will be.
func (p *podRun) act(starts, lives context.Context) <-chan time.Time {
	now := time.Now()
	var wake time.Time
	if p.sandbox && !p.ending {
		s := next(p.pod, p.records, now)
		for _, r := range s.start {
			p.start(starts, lives, r)
		}
		wake = s.wake
		if s.over {
			// The end of the pod is the same as its deletion: what still runs has this long.
			p.ctl.Stop(p.grace())
			p.ending = true
		}
	}
	wake = sooner(wake, p.advanceStops(lives, now))
	if wake.IsZero() {
		return nil
	}
	return time.After(wake.Sub(now))
}

// grace is what the pod wants its containers to have to end.
func (p *podRun) grace() time.Duration {
	return time.Duration(ptr.Deref(p.pod.Spec.TerminationGracePeriodSeconds, 30)) * time.Second
}

// sooner is the earlier of two times; the zero time is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// send hands a finding to the loop.
func (p *podRun) send(f func()) {
	select {
	case p.events <- f:
	case <-p.over:
	}
}

func (p *podRun) anyLive() bool {
	for _, r := range p.records {
		if r.live() {
			return true
		}
	}
	return false
}

// newsworthy says whether there is more to report than that the pod is on its way.
func (p *podRun) newsworthy() bool {
	for _, r := range p.records {
		if r.state == running || r.state == exited || r.why != nil {
			return true
		}
	}
	return false
}

func (p *podRun) report() {
	now := time.Now()
	s := podruntime.States{Sandbox: p.sandbox}
	for _, r := range p.records {
		status := r.status(p.pod, p.ending, now)
		if r.init || r.side {
			s.InitContainers = append(s.InitContainers, status)
		} else {
			s.Containers = append(s.Containers, status)
		}
	}
	p.ctl.Report(s)
}

// setUpVolumes makes all volumes, trying again what is not there yet, and opens the sandbox.
func (p *podRun) setUpVolumes(ctx context.Context) {
	vs := &volumes{
		cluster: p.r.cfg.Cluster, facts: p.r.facts(), pod: p.pod, on: p.r.on,
		dir: filepath.Join(p.r.podDir(p.pod.UID), "volumes"),
	}
	done := map[string]volumePath{}
	said := map[string]string{}
	for try := 0; len(done) < len(p.pod.Spec.Volumes); try++ {
		if try > 0 && !sleep(ctx, retryDelay(try)) {
			return
		}
		for i := range p.pod.Spec.Volumes {
			v := &p.pod.Spec.Volumes[i]
			if _, ok := done[v.Name]; ok {
				continue
			}
			at, err := vs.setUp(ctx, v)
			if err == nil {
				done[v.Name] = at
			} else if err != errUnbound && ctx.Err() == nil && said[v.Name] != err.Error() {
				said[v.Name] = err.Error()
				p.ctl.Event(nil, corev1.EventTypeWarning, "FailedMount", "MountVolume.SetUp failed for volume \""+v.Name+"\" : "+err.Error())
			}
		}
	}
	p.send(func() { p.volumes, p.sandbox = done, true })
}

// retryDelay is the wait before the n-th further try at what others have to provide.
func retryDelay(n int) time.Duration {
	return min(100*time.Millisecond<<min(n, 10), 2*time.Second)
}

// tearDown removes what the pod had, except its logs.
func (p *podRun) tearDown() {
	dir := p.r.podDir(p.pod.UID)
	os.RemoveAll(filepath.Join(dir, "volumes"))
	os.RemoveAll(filepath.Join(dir, "scratch"))
}
