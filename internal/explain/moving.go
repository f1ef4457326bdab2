package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/reason"
)

// Annotations that stop or allow the removal of a pod, or of a node.
const (
	annotationSafe            = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	annotationSafeLocal       = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	annotationScaleDown       = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	annotationDisrupt         = "karpenter.sh/do-not-disrupt"
	longGrace           int64 = 120 // seconds; Kubernetes' default is 30
)

// Annotations are those of pods and nodes that count here.
var Annotations = []string{annotationSafe, annotationSafeLocal, annotationScaleDown, annotationDisrupt, AnnotationPlacement, corev1.MirrorPodAnnotationKey}

// moving is what stops the removal of the pod from its node, and what it would cost; for each engine.
func (c *Cluster) moving(p *corev1.Pod) []Constraint {
	m := mover{c, p, c.originOf(p), nil}
	switch {
	case isMirror(p):
		m.add(reason.MirrorPod, Unknown, "metadata.annotations", "the node itself made it, from a file: it goes with the node, and blocks nothing")
		return m.all
	case isDaemon(p):
		m.add(reason.DaemonSetPod, Controller, "metadata.ownerReferences", "each node has one: it goes with the node, and blocks nothing")
		m.disrupt()
		return m.all
	}
	m.all = append(m.all, c.budgetRules(p)...)
	m.disrupt()
	m.autoscaler()
	m.costs()
	return m.all
}

type mover struct {
	*Cluster
	pod    *corev1.Pod
	origin origin
	all    []Constraint
}

func (m *mover) add(code reason.Code, actor Actor, path, message string) {
	s := seeker{cluster: m.Cluster, pod: m.pod, origin: m.origin}
	m.all = append(m.all, constraint(code, actor, s.source(actor, path), message))
}

// annotated says who has put an annotation on the pod.
func (m *mover) annotated(key string) (Actor, string) {
	path := "metadata." + field("annotations", key).String()
	actor := m.origin.of(field("annotations", key), func(*corev1.PodSpec) bool {
		return m.origin.owner.Template.Annotations[key] == m.pod.Annotations[key]
	})
	return actor, path
}

func (m *mover) disrupt() {
	if m.pod.Annotations[annotationDisrupt] == "true" {
		actor, path := m.annotated(annotationDisrupt)
		m.add(reason.DoNotDisrupt, actor, path, "annotated "+annotationDisrupt+": Karpenter leaves the node alone")
	}
}

// autoscaler is what the cluster autoscaler has against the removal.
func (m *mover) autoscaler() {
	safe := m.pod.Annotations[annotationSafe]
	if safe == "false" {
		actor, path := m.annotated(annotationSafe)
		m.add(reason.SafeToEvictFalse, actor, path, "annotated "+annotationSafe+": false")
	}
	bare := metav1.GetControllerOf(m.pod) == nil
	if bare {
		message := "no controller would make it anew: evicted, it is gone"
		if m.pod.Labels[LabelRun] != "" {
			message = "Berth makes it, and no controller of Kubernetes: evicted, its step begins anew if its retry says so"
		}
		m.add(reason.BarePod, Author, "metadata.ownerReferences", message)
		if safe == "true" {
			m.all[len(m.all)-1].Engines = []reason.Engine{reason.Descheduler}
		}
	}
	if safe == "true" { // which settles the rest
		return
	}
	if ref := metav1.GetControllerOf(m.pod); !bare && !slices.Contains(replicated, ref.Kind) {
		m.add(reason.CustomOwner, Controller, "metadata.ownerReferences", fmt.Sprintf("its controller is the %s %s: whether that makes it anew is not known to Kubernetes", ref.Kind, ref.Name))
	}
	if m.pod.Namespace == metav1.NamespaceSystem && m.facts.Budgets != nil && len(m.budgetsOf(m.pod)) == 0 {
		m.add(reason.KubeSystemNoPDB, Author, "", "in kube-system, and no PodDisruptionBudget says that it may be moved")
	}
	m.local()
}

// replicated are the kinds of controllers of which the cluster autoscaler knows that they make pods anew.
var replicated = []string{kindReplicaSet, kindRC, kindStatefulSet, kindJob, kindDaemonSet, kindDeployment, kindCronJob} // the last two own no pods but those that are made up here

// local are volumes whose data would be lost.
func (m *mover) local() {
	safe := strings.Split(m.pod.Annotations[annotationSafeLocal], ",")
	for i, v := range m.pod.Spec.Volumes {
		var what string
		switch {
		case v.HostPath != nil:
			what = "the host's " + v.HostPath.Path
		case v.EmptyDir != nil && v.EmptyDir.Medium != corev1.StorageMediumMemory:
			what = "an emptyDir"
		default:
			continue
		}
		if slices.ContainsFunc(safe, func(s string) bool { return strings.TrimSpace(s) == v.Name }) {
			continue
		}
		at := append(field("volumes"), segment{Name: v.Name, Item: true})
		actor := m.origin.of(at, func(t *corev1.PodSpec) bool {
			return slices.ContainsFunc(t.Volumes, func(o corev1.Volume) bool { return o.Name == v.Name })
		})
		by := ""
		if actor == Injected {
			by = ", which its template does not have: something injected it"
		}
		m.add(reason.LocalStorage, actor, fmt.Sprintf("%s[%d]", pathVolume, i), fmt.Sprintf("the volume %s is %s%s", v.Name, what, by))
	}
}

// costs are what a removal would cost. They stop nobody.
func (m *mover) costs() {
	if g := m.pod.Spec.TerminationGracePeriodSeconds; g != nil && *g > longGrace {
		actor := m.origin.of(field("terminationGracePeriodSeconds"), func(t *corev1.PodSpec) bool {
			return t.TerminationGracePeriodSeconds != nil && *t.TerminationGracePeriodSeconds == *g
		})
		m.add(reason.GracePeriod, actor, "spec.terminationGracePeriodSeconds", fmt.Sprintf("it may take %d seconds to end", *g))
	}
	w := m.WorkloadOf(m.pod)
	switch {
	case w.Kind == kindJob || w.Kind == kindCronJob || w.Kind == KindRun:
		m.all = append(m.all, constraint(reason.JobRestarts, Author, Source{w, ""}, "moved, it begins anew"))
	case m.replicas(w) == 1:
		m.all = append(m.all, constraint(reason.SingleReplica, Author, Source{w, "spec.replicas"}, "its only replica: moving it is an outage"))
	}
	s := seeker{cluster: m.Cluster, pod: m.pod, origin: m.origin}
	if n := m.nodes[m.pod.Spec.NodeName]; n != nil && n.Spec.Unschedulable && s.toleratesCordon() {
		m.add(reason.ToleratesCordon, Unknown, "spec.tolerations", "tolerates the cordon of its node: evicted, it may land there again")
	}
}

func labelSet(p *corev1.Pod) labels.Set  { return labels.Set(p.Labels) }
func templateLabels(o *Owner) labels.Set { return labels.Set(o.Template.Labels) }
