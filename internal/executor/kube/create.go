package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// create sends one create, if there is still something to create and nothing to wait for.
func (e *Executor) create(ctx context.Context, a *attempt) {
	job, fence := e.begin(ctx, a)
	if job == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if a.tries > 0 {
		var err error
		if fence, err = e.reporter.Fence(ctx, a.ref); err != nil {
			e.withdraw(a, ctx.Err() != nil)
			return
		}
	}
	sent, err := e.pod(job, fence)
	if err != nil {
		e.settle(a, verdict{meaning: refused, code: reason.PodInvalid, message: err.Error()}, nil)
		return
	}
	answer, err := e.post(ctx, sent)
	v := judge(err)
	switch {
	case v.meaning == created:
		e.accept(a, fence, sent, answer)
	case v.meaning == exists, v.meaning == refused && a.issued:
		e.settle(a, v, e.whose(ctx, a, sent))
	default:
		e.settle(a, v, nil)
	}
}

// begin takes the attempt in hand, unless it has to wait for its workspace or for a quota.
func (e *Executor) begin(ctx context.Context, a *attempt) (*executor.Attempt, int64) {
	if !e.claimed(ctx, a) {
		return nil, 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.job == nil || a.creating || a.gone() || a.stop != nil {
		e.breaker.drop(a)
		return nil, 0
	}
	if !e.breaker.admits(a) {
		e.wait(a, why(reason.QuotaExceeded, "the namespace's quota is used up; other steps wait for it as well"))
		return nil, 0
	}
	a.creating = true
	return a.job, a.fence
}

// withdraw gives up a create that the reporter does not want any more, or puts it off.
func (e *Executor) withdraw(a *attempt, later bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a.creating = false
	if later {
		e.creates.AddAfter(a, pauseAfter(1))
		return
	}
	a.job = nil
	e.breaker.drop(a)
	if a.stop != nil {
		e.reaps.Add(a)
	}
}

// pod is what is sent.
func (e *Executor) pod(job *executor.Attempt, fence int64) (map[string]any, error) {
	facts := podspec.Facts{Namespace: e.Namespace, Instance: e.Instance, Run: job.Run, Attempt: job.Attempt, Fence: fence}
	for _, l := range podspec.Authored(job.Spec) {
		text, ok := job.Texts[l.Text]
		if !ok {
			return nil, fmt.Errorf("there is no value for %s of %s", l.Text, l.Path)
		}
		facts.Late = append(facts.Late, text)
	}
	return podspec.Pod(job.Spec, facts)
}

// post sends a pod as it is: under strict field validation, since what the API server does not know must
// not be lost, and without client-go's own repetitions, which would send the same fence twice.
func (e *Executor) post(ctx context.Context, pod map[string]any) (map[string]any, error) {
	data, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	result := e.Dispatch.Post().Namespace(e.Namespace).Resource("pods").Param("fieldValidation", metav1.FieldValidationStrict).
		SetHeader("Content-Type", runtime.ContentTypeJSON).SetHeader("Accept", runtime.ContentTypeJSON).
		MaxRetries(0).Body(data).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	return answer, kjson.Unmarshal(raw, &answer)
}

// accept takes in the answer to a create. What the API server did not store would not take effect: then the
// pod is deleted again.
func (e *Executor) accept(a *attempt, fence int64, sent, answer map[string]any) {
	metadata, _ := answer["metadata"].(map[string]any)
	id, _ := metadata["uid"].(string)
	origins, lost := podspec.Cluster(sent, answer)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done(a)
	e.breaker.through(a)
	if len(lost) > 0 {
		e.dropped(a, lost)
	}
	switch {
	case a.gone(): // it was deleted before the answer was here
		e.outbox.put(a)
	case a.seen.ID != "" && a.seen.ID != id:
		a.confirm = true
		e.reaps.Add(a)
	default:
		o := run.Observation{Ref: a.ref, ID: id, Fence: fence, Phase: run.PhaseWaiting, Cluster: origins}
		if o.Phase.Before(a.seen.Phase) {
			o.Phase = a.seen.Phase
		}
		if a.seen.ID == "" {
			a.seen.Waiting = nil // why it did not exist
		}
		e.know(a, o)
		e.outbox.put(a)
	}
}

// done ends what begin began.
func (e *Executor) done(a *attempt) {
	a.creating, a.fails = false, 0
	a.tries++
	if a.seen.ID != "" {
		a.job, a.issued = nil, false
	}
}

// dropped has a pod deleted that is not as it was sent.
func (e *Executor) dropped(a *attempt, lost []podspec.Difference) {
	message := "the API server did not store"
	for i, d := range lost {
		if i > 0 {
			message += ","
		}
		message += " " + d.Path.String()
	}
	now := int64(0)
	a.refusal = &run.Outcome{Class: run.NeverStarted, Reason: reason.FieldDropped, Message: message, Final: true}
	a.stop, a.asked = &executor.Stop{Ref: a.ref, Grace: &now}, false
}

// found is what was found under an attempt's name.
type found struct {
	pod  *corev1.Pod
	lost []podspec.Difference
	err  error
}

// whose asks for the pod that has the attempt's name.
func (e *Executor) whose(ctx context.Context, a *attempt, sent map[string]any) *found {
	pod := &corev1.Pod{}
	err := pods(e.Watch, e.Namespace).get(ctx, a.name, pod)
	f := &found{err: err}
	if err != nil {
		return f
	}
	f.pod = pod
	if e.ours(pod) && pod.DeletionTimestamp == nil && sent != nil {
		if stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod); err == nil {
			stored["apiVersion"], stored["kind"] = sent["apiVersion"], sent["kind"] // which typed objects leave out
			_, f.lost = podspec.Cluster(sent, stored)
		}
	}
	return f
}

// settle takes in an answer that is not the pod, with what was found under its name if that was asked.
func (e *Executor) settle(a *attempt, v verdict, f *found) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fails := a.fails + 1
	if v.meaning == unknown {
		a.issued = true
	}
	e.done(a)
	switch {
	case a.gone(), a.seen.ID != "": // the watch was quicker
		e.breaker.drop(a)
		if a.stop != nil {
			e.reaps.Add(a)
		}
		e.outbox.put(a)
		return
	case f != nil && f.pod != nil && e.ours(f.pod):
		e.breaker.drop(a)
		if len(f.lost) > 0 {
			e.dropped(a, f.lost)
		}
		a.job, a.issued = nil, false
		e.observe(f.pod, false)
		return
	case f != nil && f.pod != nil && v.meaning == exists:
		e.breaker.drop(a)
		e.refuse(a, taken(f.pod))
		return
	case f != nil && f.err != nil && !apierrors.IsNotFound(f.err):
		v = verdict{meaning: unknown, message: v.message + "; and it can't be asked for: " + short(f.err)}
	case f != nil: // there is none, any more
		a.issued = false
		if v.meaning == exists {
			v.meaning = notNow
		}
	}
	if a.stop != nil { // it is not tried again
		a.job = nil
		e.breaker.drop(a)
		if a.issued {
			e.reaps.Add(a)
		} else {
			e.vanish(a)
		}
		return
	}
	e.again(a, v, fails)
}

// again refuses the attempt or sees to it that it is tried again.
func (e *Executor) again(a *attempt, v verdict, fails int) {
	switch v.meaning {
	case refused:
		e.breaker.drop(a)
		e.refuse(a, v.outcome())
	case quotaFull:
		e.wait(a, why(reason.QuotaExceeded, "%s", v.message))
		e.breaker.full(a)
	default:
		a.fails = fails
		e.wait(a, why(reason.Overloaded, "%s", v.message))
		e.creates.AddAfter(a, max(v.after+time.Duration(float64(v.after)*0.2), pauseAfter(fails)))
	}
}

// taken says whose the pod is that has the attempt's name.
func taken(pod *corev1.Pod) *run.Outcome {
	return &run.Outcome{Class: run.NeverStarted, Reason: reason.NameTaken, Final: true,
		Message: fmt.Sprintf("a pod %s exists since %s, and is not of this instance", pod.Name, pod.CreationTimestamp.UTC().Format(time.RFC3339))}
}
