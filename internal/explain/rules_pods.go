package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// nearness are the rules about which pods are where: affinity and anti-affinity.
func (s *seeker) nearness() {
	a := s.pod.Spec.Affinity
	if a == nil {
		return
	}
	if near := a.PodAffinity; near != nil {
		for i, t := range near.RequiredDuringSchedulingIgnoredDuringExecution {
			s.near(i, t)
		}
		for i, t := range near.PreferredDuringSchedulingIgnoredDuringExecution {
			path := fmt.Sprintf("spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[%d]", i)
			s.preferred(reason.PodAffinityPreferred, "podAffinity", path, "prefers the "+domain(t.PodAffinityTerm.TopologyKey)+" of ", t, nearTerms)
		}
	}
	if apart := a.PodAntiAffinity; apart != nil {
		for i, t := range apart.RequiredDuringSchedulingIgnoredDuringExecution {
			s.apart(i, t)
		}
		for i, t := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
			path := fmt.Sprintf("spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[%d]", i)
			s.preferred(reason.AntiAffinityPreferred, "podAntiAffinity", path, "prefers a "+domain(t.PodAffinityTerm.TopologyKey)+" without ", t, apartTerms)
		}
	}
}

func (s *seeker) preferred(code reason.Code, name, path, words string, t corev1.WeightedPodAffinityTerm, of func(*corev1.PodSpec) []corev1.PodAffinityTerm) {
	actor := s.termActor(name, t.PodAffinityTerm, of)
	s.soft(code, actor, path, fmt.Sprintf("%s%s%s (weight %d)", words, podsText(t.PodAffinityTerm), where(t.PodAffinityTerm), t.Weight))
	s.dead(t.PodAffinityTerm, actor, path, "the preference does nothing", reason.Soft)
}

func (s *seeker) near(i int, t corev1.PodAffinityTerm) {
	path := fmt.Sprintf("%s[%d]", pathNear, i)
	actor := s.termActor("podAffinity", t, nearTerms)
	s.add(rule{Constraint: constraint(reason.PodAffinity, actor, s.source(actor, path),
		fmt.Sprintf("must be in the %s of %s%s", domain(t.TopologyKey), podsText(t), where(t))),
		blames: at(path, fit.PodAffinity), cut: cut{near: []int{i}}})
	s.missing(t.TopologyKey, path, actor)
	s.dead(t, actor, path, "the pod waits until there is one", reason.Hard)
}

func (s *seeker) apart(i int, t corev1.PodAffinityTerm) {
	path := fmt.Sprintf("%s[%d]", pathApart, i)
	actor := s.termActor("podAntiAffinity", t, apartTerms)
	code, message := reason.AntiAffinityOther, fmt.Sprintf("can't be in the %s of %s%s", domain(t.TopologyKey), podsText(t), where(t))
	if s.selects(t, s.pod) {
		code = reason.AntiAffinitySelf
		message = fmt.Sprintf("one per %s: keeps away from %s%s, which it is itself", domain(t.TopologyKey), podsText(t), where(t))
	}
	// The replicas have the same rule, and keep this one away by it: it is one rule, and goes from all at once.
	mine := at(path, fit.AntiSelf, fit.AntiOther)
	w := s.cluster.WorkloadOf(s.pod)
	blames := func(r fit.Reason) bool {
		return mine(r) || r.Kind == fit.AntiInverse && otherPath(r) == path && s.repeller(r) == w
	}
	s.add(rule{Constraint: constraint(code, actor, s.source(actor, path), message), blames: blames, cut: cut{apart: []int{i}},
		others: s.replicas(w), path: path})
	s.missing(t.TopologyKey, path, actor)
	s.dead(t, actor, path, "the rule does nothing", reason.Soft)
}

// replicas are the other pods of the workload that have a node.
func (s *seeker) replicas(w Ref) []*corev1.Pod {
	var all []*corev1.Pod
	for _, p := range s.cluster.workloads[w] {
		if p != s.pod && p.Spec.NodeName != "" {
			all = append(all, p)
		}
	}
	return all
}

// at says whether a reason of certain kinds comes from the field at the path.
func at(path string, kinds ...fit.Kind) func(fit.Reason) bool {
	return func(r fit.Reason) bool {
		return slices.Contains(kinds, r.Kind) && (r.Path == path || strings.HasPrefix(r.Path, path+"."))
	}
}

// missing is that nodes have no such label, and so are in no domain.
func (s *seeker) missing(key, path string, actor Actor) {
	blames := at(path, fit.TopologyMissing)
	stops, void := s.count(blames), s.noted(blames)
	n := stops + void
	if n == 0 {
		return
	}
	message := fmt.Sprintf("%s no label %s, and so %s in no domain", plural(n, "node")+have(n), key, isAre(n))
	if stops == 0 {
		message += ": the rule does nothing there"
	}
	if now, ok := renamed[key]; ok {
		message += fmt.Sprintf("; the label is called %s now", now)
	}
	c := constraint(reason.TopologyKeyMissing, actor, s.source(actor, path+".topologyKey"), message)
	if stops == 0 {
		c.Hardness = reason.Soft
		s.add(rule{Constraint: c})
		return
	}
	s.add(rule{Constraint: c, blames: blames, cut: cutAt(path)})
}

// noted is on how many nodes a rule is void.
func (s *seeker) noted(about func(fit.Reason) bool) int {
	n := 0
	for _, v := range s.verdicts {
		if slices.ContainsFunc(v.Notes, about) {
			n++
		}
	}
	return n
}

// renamed are labels of nodes that have got another name.
var renamed = map[string]string{
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os":             corev1.LabelOSStable,
	"beta.kubernetes.io/arch":           corev1.LabelArchStable,
	"beta.kubernetes.io/instance-type":  corev1.LabelInstanceTypeStable,
}

// dead is a selector that matches no pod there is.
func (s *seeker) dead(t corev1.PodAffinityTerm, actor Actor, path, so string, h reason.Hardness) {
	if s.cluster.facts.Pods == nil || s.selects(t, s.pod) || t.NamespaceSelector != nil && s.cluster.facts.Namespaces == nil {
		return
	}
	if slices.ContainsFunc(s.cluster.facts.Pods, func(p *corev1.Pod) bool { return !ended(p) && s.selects(t, p) }) {
		return
	}
	c := constraint(reason.DeadSelector, actor, s.source(actor, path+".labelSelector"),
		fmt.Sprintf("there are no %s%s: %s", podsText(t), where(t), so))
	c.Hardness = h
	r := rule{Constraint: c}
	if h == reason.Hard {
		r.blames, r.cut = never, cutAt(path)
	}
	s.add(r)
}

// termActor says who has written a term of the affinity with this name.
func (s *seeker) termActor(name string, t corev1.PodAffinityTerm, of func(*corev1.PodSpec) []corev1.PodAffinityTerm) Actor {
	return s.origin.of(field("affinity", name), func(spec *corev1.PodSpec) bool {
		return slices.ContainsFunc(of(spec), func(o corev1.PodAffinityTerm) bool { return sameTerm(t, o) })
	})
}

func have(n int) string {
	if n == 1 {
		return " has"
	}
	return " have"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
