package process

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/kubelet/util/format"
)

// run is one run of a container.
type run struct {
	id    string
	at    paths
	task  *task // nil if an image plays a part, or the command could not be executed
	ended chan struct{}
	// broken is how the run ended before it began.
	broken *corev1.ContainerStateTerminated
}

// start starts a container in the background and follows it to its end.
func (p *podRun) start(starts, lives context.Context, r *record) {
	r.state = starting
	c, pulling, tries := r.c, r.pull, r.tries
	p.background.Go(func() {
		x, why, pulling := p.startContainer(starts, c, pulling, tries)
		begun := time.Now()
		p.send(func() {
			r.pull = pulling
			if x == nil {
				p.notStarted(r, why)
				return
			}
			r.launched(x, begun)
			if x.broken != nil {
				r.since = x.broken.StartedAt.Time
				p.ended(r, x.broken)
				return
			}
			p.ctl.Event(c, corev1.EventTypeNormal, "Started", "Container started")
			p.watch(lives, r)
		})
		if x == nil || x.broken != nil {
			return
		}
		end := p.end(c, x)
		end.StartedAt = metav1.NewTime(begun)
		close(x.ended)
		p.send(func() { p.ended(r, end) })
	})
}

// ended notes the end of a run, and says so if the next one has to wait.
func (p *podRun) ended(r *record, end *corev1.ContainerStateTerminated) {
	r.ended(end)
	if !p.ending && r.backingOff(p.pod, time.Now()) {
		p.ctl.Event(r.c, corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", r.c.Name, format.Pod(p.pod)))
	}
}

// notStarted notes a start that failed, and says so once.
func (p *podRun) notStarted(r *record, why *notStarted) {
	if r.why == nil || r.why.message != why.message {
		for _, e := range why.events {
			p.ctl.Event(r.c, e.kind, e.reason, e.message)
		}
	}
	r.failed(why)
}

// startContainer makes a container and starts it. If it can't, it says why, and when to try again.
func (p *podRun) startContainer(ctx context.Context, c *corev1.Container, pulling pull, tries int) (*run, *notStarted, pull) {
	now := time.Now()
	switch act(c.Image) {
	case actInvalid:
		return nil, invalidName(c.Image), pulling
	case actUnpullable:
		why, pulling := pulling.next(c.Image, now)
		return nil, why, pulling
	case actHang:
		return nil, &notStarted{}, pulling
	case actOOM:
		return &run{id: newID(), ended: make(chan struct{})}, nil, pulling
	}
	x, err := p.make(ctx, c)
	if err != nil {
		return nil, &notStarted{
			reason: "CreateContainerConfigError", message: err.Error(), again: now.Add(retryDelay(tries + 1)),
			events: []event{{corev1.EventTypeWarning, "Failed", "Error: " + err.Error()}},
		}, pulling
	}
	return x, nil, pulling
}

// make makes a run of a container. An error is one of the pod's configuration, which may go away;
// a command that can't be executed makes a broken run.
func (p *podRun) make(ctx context.Context, c *corev1.Container) (*run, error) {
	vars, err := resolveEnv(ctx, p.r.cfg.Cluster, p.r.facts(), p.pod, c)
	if err != nil {
		return nil, err
	}
	x := &run{id: newID(), ended: make(chan struct{})}
	who, err := identify(p.pod, c)
	if err != nil && p.r.on.namespaces {
		return nil, err
	}
	mounts, err := planMounts(c, p.volumes, vars)
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		if m.subPath == "" {
			continue
		}
		if err := prepareSubPath(m.volume.path, m.subPath); err != nil {
			return nil, fmt.Errorf("failed to prepare subPath %q for the mount %s of container %q", m.subPath, m.target, c.Name)
		}
	}
	if x.at, err = p.makePaths(c, x); err != nil {
		return nil, err
	}
	spec := planContainer(p.pod, c, who, vars, mounts, x.at)
	if !p.r.on.namespaces {
		if spec, err = planProcess(p.pod, c, vars, mounts, x.at); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.ctl.Event(c, corev1.EventTypeNormal, "Created", "Container created")
	log, err := createLog(x.at.log)
	if err != nil {
		return nil, err
	}
	if x.task, err = p.r.startTask(spec, log); err != nil {
		log.Close()
		p.breakRun(c, x, err)
		return x, nil
	}
	p.r.setRunning(x.id, true)
	return x, nil
}

// breakRun gives a run the end that containerd gives to a container whose command it can't execute.
func (p *podRun) breakRun(c *corev1.Container, x *run, err error) {
	message := fmt.Sprintf("failed to start container: unable to start container process: %v", err)
	p.ctl.Event(c, corev1.EventTypeWarning, "Failed", "Error: "+message)
	x.broken = &corev1.ContainerStateTerminated{
		ExitCode: 128, Reason: "StartError", Message: message,
		StartedAt: metav1.NewTime(time.Unix(0, 0)), FinishedAt: metav1.Now(), ContainerID: containerID(x.id),
	}
	os.RemoveAll(x.at.scratch)
}

// makePaths makes the folders and files of a run.
func (p *podRun) makePaths(c *corev1.Container, x *run) (paths, error) {
	dir := p.r.podDir(p.pod.UID)
	own := filepath.Join(dir, "containers", c.Name)
	at := paths{
		scratch: filepath.Join(dir, "scratch", x.id),
		log:     filepath.Join(own, x.id+".log"),
		message: filepath.Join(own, x.id+".message"),
	}
	for _, d := range []string{own, at.scratch} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return at, err
		}
	}
	if err := os.WriteFile(at.message, nil, 0o666); err != nil {
		return at, err
	}
	// Not by WriteFile: that obeys this process's umask, and the container may be of any user.
	return at, os.Chmod(at.message, 0o666)
}

// end waits for the end of a run and says how it ended.
func (p *podRun) end(c *corev1.Container, x *run) *corev1.ContainerStateTerminated {
	end := &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.Now(), ContainerID: containerID(x.id)}
	if x.task == nil {
		return end
	}
	code, at := x.task.wait()
	x.task.log.Close()
	p.r.setRunning(x.id, false)
	os.RemoveAll(x.at.scratch)
	end.ExitCode, end.FinishedAt, end.Reason = code, metav1.NewTime(at), "Error"
	if code == 0 {
		end.Reason = "Completed"
	}
	end.Message = terminationMessage(context.Background(), c, x.at, code)
	return end
}

func newID() string {
	var b [32]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
