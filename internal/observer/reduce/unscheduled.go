package reduce

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// unscheduled says why a pod has no node; "" if it has one, or no longer needs one.
func unscheduled(p *corev1.Pod) (reason string, causes Causes) {
	if p.Spec.NodeName != "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return "", 0
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		switch c.Reason {
		case corev1.PodReasonUnschedulable:
			return observer.ReasonUnschedulable, causesIn(c.Message)
		case corev1.PodReasonSchedulingGated:
			return observer.ReasonSchedulingGated, 0
		case corev1.PodReasonSchedulerError:
			return observer.ReasonSchedulerError, 0
		}
	}
	return observer.ReasonOther, 0
}

// Causes is a set of observer.Causes().
type Causes uint16

// Has says whether the set has the cause with that index.
func (c Causes) Has(i int) bool { return c&(1<<i) != 0 }

// phrases are what the scheduler's plugins say of a node, and what they said in Kubernetes 1.2x
// (ErrReason... in k8s.io/kubernetes/pkg/scheduler/framework/plugins). What begins with a phrase is it.
var phrases = []struct{ phrase, cause string }{
	{"node(s) had untolerated taint", observer.CauseUntoleratedTaint},
	{"node(s) had taint", observer.CauseUntoleratedTaint}, // {...}, that the pod didn't tolerate
	{"node(s) didn't match Pod's node affinity", observer.CauseNodeAffinity},
	{"node(s) didn't match node selector", observer.CauseNodeAffinity},
	{"node(s) didn't match scheduler-enforced node affinity", observer.CauseNodeAffinity},
	{"Insufficient cpu", observer.CauseInsufficientCPU},
	{"Insufficient memory", observer.CauseInsufficientMemory},
	{"Insufficient ", observer.CauseInsufficientOther},
	{"node(s) didn't match pod affinity rules", observer.CausePodAffinity},
	{"node(s) didn't match pod anti-affinity rules", observer.CausePodAntiAffinity},
	{"node(s) didn't satisfy existing pods anti-affinity rules", observer.CausePodAntiAffinity},
	{"node(s) didn't match pod topology spread constraints", observer.CauseTopologySpread},
	{"node(s) didn't match PersistentVolume's node affinity", observer.CauseVolumeAffinity},
	{"node(s) had volume node affinity conflict", observer.CauseVolumeAffinity},
	{"node(s) had no available volume zone", observer.CauseVolumeAffinity},
	{"node(s) didn't have free ports", observer.CausePorts},
	{"node(s) were unschedulable", observer.CauseUnschedulableNode},
	{"Too many pods", observer.CauseTooManyPods},
}

// causesIn reads what the scheduler says of the nodes: "0/5 nodes are available: 1 Insufficient cpu, 4 node(s)
// had untolerated taint(s). preemption: ...". Parts that are not "NUMBER PHRASE" explain the one before, or are
// all there is.
func causesIn(message string) Causes {
	message, _, _ = strings.Cut(message, " preemption: ")
	if _, after, ok := strings.Cut(message, " nodes are available: "); ok {
		message = after
	}
	if message == "" {
		return 0
	}
	var all Causes
	for part := range strings.SplitSeq(message, ", ") {
		phrase := strings.TrimLeft(part, "0123456789")
		if phrase != part {
			all |= causeOf(strings.TrimPrefix(phrase, " "))
		}
	}
	if all == 0 {
		return only(observer.CauseOther)
	}
	return all
}

func causeOf(phrase string) Causes {
	for _, p := range phrases {
		if strings.HasPrefix(phrase, p.phrase) {
			return only(p.cause)
		}
	}
	return only(observer.CauseOther)
}

var allCauses = observer.Causes()

func only(cause string) Causes { return 1 << slices.Index(allCauses, cause) }
