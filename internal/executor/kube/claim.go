package kube

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
)

// claim is how far the volume of a run's workspace is.
type claim struct {
	state   claimState
	waiting []*attempt // while it is being created
	fails   int
	none    bool // the run is known to have no workspace
}

type claimState int

const (
	unclaimed claimState = iota
	claiming
	claimed
)

func claimName(run string) string {
	return strings.ReplaceAll(plan.ClaimName, plan.RunName, strings.ToLower(run))
}

// claimed says whether the attempt has what it needs of its run's workspace. If not, the first attempt to
// come creates the claim, and all are created, or told why not, after that.
func (e *Executor) claimed(ctx context.Context, a *attempt) bool {
	e.mu.Lock()
	job, r := a.job, e.runOf(a.ref.Run)
	if job == nil || job.Workspace == nil || !job.Spec.Work.Workspace {
		if job != nil {
			r.claim.none = job.Workspace == nil
		}
		e.mu.Unlock()
		return true
	}
	switch r.claim.state {
	case claimed:
		e.mu.Unlock()
		return true
	case claiming:
		r.claim.waiting = append(r.claim.waiting, a)
		e.mu.Unlock()
		return false
	}
	r.claim.state = claiming
	e.mu.Unlock()

	within, cancel := context.WithTimeout(ctx, patience)
	v := e.claim(within, a.ref.Run, job.Pipeline, job.Workspace)
	cancel()

	e.mu.Lock()
	defer e.mu.Unlock()
	waiting := append(r.claim.waiting, a)
	r.claim.waiting = nil
	if v.meaning == created {
		r.claim.state = claimed
		for _, w := range waiting[:len(waiting)-1] {
			e.creates.Add(w)
		}
		return true
	}
	r.claim.state = unclaimed
	r.claim.fails++
	pause := max(v.after, pauseAfter(r.claim.fails))
	for _, w := range waiting {
		switch {
		case w.job == nil:
		case v.meaning == refused:
			v.message = "the volume of the workspace: " + strings.TrimPrefix(v.message, "the volume of the workspace: ")
			e.breaker.drop(w)
			e.refuse(w, v.outcome())
		case v.meaning == quotaFull:
			e.wait(w, why(reason.QuotaExceeded, "the volume of the workspace: %s", v.message))
			e.creates.AddAfter(w, pause)
		default:
			e.wait(w, why(reason.WorkspaceWait, "the volume of the workspace can't be created yet: %s", v.message))
			e.creates.AddAfter(w, pause)
		}
	}
	return false
}

// claim creates the claim; one that this instance created before will do.
func (e *Executor) claim(ctx context.Context, run, pipeline string, w *plan.Workspace) verdict {
	size, err := resource.ParseQuantity(w.Size)
	if err != nil {
		return verdict{meaning: refused, code: reason.PodInvalid, message: fmt.Sprintf("%s is no quantity", w.Size)}
	}
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: claimName(run), Labels: map[string]string{
			plan.LabelInstance: e.Instance, plan.LabelRun: run, plan.LabelPipeline: pipeline}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(w.AccessMode)},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if w.StorageClass != "" {
		c.Spec.StorageClassName = &w.StorageClass
	}
	volumes := claims(e.Claims, e.Namespace)
	v := judge(volumes.create(ctx, c))
	if v.meaning != exists {
		return v
	}
	there := &corev1.PersistentVolumeClaim{}
	err = volumes.get(ctx, c.Name, there)
	switch {
	case err != nil:
		return verdict{meaning: unknown, message: short(err)}
	case there.Labels[plan.LabelInstance] != e.Instance:
		return verdict{meaning: refused, code: reason.NameTaken, message: fmt.Sprintf("a claim %s exists, and is not of this instance", c.Name)}
	case there.DeletionTimestamp != nil:
		return verdict{meaning: notNow, message: fmt.Sprintf("the claim %s is being deleted", c.Name)}
	}
	return verdict{}
}

// FinishRun removes the run's workspace, and what was kept of its attempts.
func (e *Executor) FinishRun(ctx context.Context, id string) error {
	e.mu.Lock()
	none := e.runs[id] != nil && e.runs[id].claim.none
	e.mu.Unlock()
	if !none {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := claims(e.Claims, e.Namespace).delete(ctx, claimName(id), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r := e.runs[id]; r != nil && r.over() {
		delete(e.runs, id)
	}
	return nil
}

// over says whether nothing of the run is left to be done.
func (r *runState) over() bool {
	for _, a := range r.attempts {
		if !a.gone() || len(a.strays) > 0 {
			return false
		}
	}
	return true
}
