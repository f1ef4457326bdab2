package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// nodes are the rules about what the node is.
func (s *seeker) nodes() {
	s.gates()
	for _, key := range slices.Sorted(maps.Keys(s.pod.Spec.NodeSelector)) {
		s.selector(key, s.pod.Spec.NodeSelector[key])
	}
	if a := s.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		s.required(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		for i, t := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			actor := s.origin.of(field("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"), func(t *corev1.PodSpec) bool {
				return t.Affinity != nil && t.Affinity.NodeAffinity != nil && len(t.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
			})
			s.soft(reason.NodeAffinityPreferred, actor, fmt.Sprintf("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[%d]", i),
				fmt.Sprintf("prefers nodes with %s (weight %d)", termText(t.Preference), t.Weight))
		}
	}
	if name := s.pod.Spec.SchedulerName; name != "" && name != corev1.DefaultSchedulerName {
		actor := s.origin.of(field("schedulerName"), func(t *corev1.PodSpec) bool { return t.SchedulerName == name })
		s.soft(reason.SchedulerName, actor, "spec.schedulerName", fmt.Sprintf("the scheduler %s places it: what is said here is what Kubernetes' own would do", name))
	}
	if name := s.pod.Spec.RuntimeClassName; name != nil {
		s.runtimeClass(*name)
	}
	if len(s.pod.Spec.ResourceClaims) > 0 {
		actor := s.origin.of(field("resourceClaims"), func(t *corev1.PodSpec) bool { return len(t.ResourceClaims) > 0 })
		s.add(rule{Constraint: constraint(reason.ResourceClaim, actor, s.source(actor, "spec.resourceClaims"),
			"claims devices: which nodes have them free is not evaluated"), blames: never})
	}
	if s.toleratesCordon() {
		actor := s.origin.of(field("tolerations"), func(t *corev1.PodSpec) bool { return len(t.Tolerations) > 0 })
		s.soft(reason.ToleratesCordon, actor, "spec.tolerations", "tolerates cordoned nodes: evicted, it may land on the same node again")
	}
}

func never(fit.Reason) bool { return false }

func (s *seeker) gates() {
	for i, g := range s.pod.Spec.SchedulingGates {
		actor := s.origin.of(field("schedulingGates"), func(t *corev1.PodSpec) bool { return slices.Contains(t.SchedulingGates, g) })
		s.add(rule{Constraint: constraint(reason.Gated, actor, s.source(actor, fmt.Sprintf("spec.schedulingGates[%d]", i)),
			fmt.Sprintf("the gate %s holds it: the scheduler does not look at it", g.Name)),
			blames: func(r fit.Reason) bool { return r.Kind == fit.Gate }, cut: cut{gates: true}})
	}
}

// selector is one entry of nodeSelector, and so one rule.
func (s *seeker) selector(key, value string) {
	actor := s.origin.of(field("nodeSelector", key), func(t *corev1.PodSpec) bool { return t.NodeSelector[key] == value })
	code := reason.NodeSelector
	if key == corev1.LabelHostname {
		code = reason.NodeNamePin
	}
	source := s.source(actor, "spec."+field("nodeSelector", key).String())
	if class := s.class(); class != nil && actor == Injected && class.NodeSelector[key] == value {
		actor, source = Injected, Source{Ref{"RuntimeClass", "", class.Name}, "scheduling.nodeSelector"}
	}
	s.add(rule{Constraint: constraint(code, actor, source, fmt.Sprintf("nodeSelector wants %s=%s", key, value)),
		blames: func(r fit.Reason) bool {
			return r.Label != nil && r.Label.Key == key
		},
		cut: cut{selector: []string{key}}})
}

// class is the pod's runtime class, nil if it has none or it can't be read.
func (s *seeker) class() *RuntimeClass {
	if s.pod.Spec.RuntimeClassName == nil {
		return nil
	}
	for _, c := range s.cluster.facts.RuntimeClasses {
		if c.Name == *s.pod.Spec.RuntimeClassName {
			return c
		}
	}
	return nil
}

func (s *seeker) runtimeClass(name string) {
	actor := s.origin.of(field("runtimeClassName"), func(t *corev1.PodSpec) bool { return t.RuntimeClassName != nil && *t.RuntimeClassName == name })
	c := s.class()
	if c == nil || len(c.NodeSelector) == 0 {
		return // what the class demands is in the pod, or is nothing
	}
	var wants []string
	for _, key := range slices.Sorted(maps.Keys(c.NodeSelector)) {
		wants = append(wants, key+"="+c.NodeSelector[key])
	}
	keys := slices.Collect(maps.Keys(c.NodeSelector))
	s.add(rule{Constraint: constraint(reason.RuntimeClass, actor, s.source(actor, "spec.runtimeClassName"),
		fmt.Sprintf("its runtime class %s is for nodes with %s", name, strings.Join(wants, " and "))),
		blames: func(r fit.Reason) bool { return r.Label != nil && slices.Contains(keys, r.Label.Key) },
		cut:    cut{selector: keys}})
}

func (s *seeker) toleratesCordon() bool {
	return !isDaemon(s.pod) && slices.ContainsFunc(s.pod.Spec.Tolerations, func(t corev1.Toleration) bool {
		all := t.Key == "" && t.Operator == corev1.TolerationOpExists
		return (all || t.Key == corev1.TaintNodeUnschedulable) && (t.Effect == "" || t.Effect == corev1.TaintEffectNoSchedule)
	})
}
