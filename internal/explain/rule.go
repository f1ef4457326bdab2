package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// rule is a constraint on where a pod can be, with what it takes to be rid of it.
type rule struct {
	Constraint
	// blames says whether a reason why a node is no place for the pod is this rule's; nil if the rule is soft.
	blames func(fit.Reason) bool
	// cut takes the rule away from the pod. Without one (settled) the nodes that it alone holds are those
	// that have no other reason.
	cut     cut
	settled bool
	// others are pods whose required anti-affinity at the path is to be taken away.
	others []*corev1.Pod
	path   string
}

// rules gives all constraints of the pod on its nodes, soft ones included: what it asks for itself, whether
// or not it shuts out a node now, then what verdicts blame besides.
func (c *Cluster) rules(p *corev1.Pod, verdicts []fit.Verdict) []rule {
	s := &seeker{cluster: c, pod: p, origin: c.originOf(p), verdicts: verdicts}
	s.nodes()
	s.nearness()
	s.spreading()
	s.volumes()
	s.ports()
	s.blamed()
	return s.rules
}

// seeker collects the rules of a pod.
type seeker struct {
	cluster  *Cluster
	pod      *corev1.Pod
	origin   origin
	verdicts []fit.Verdict
	rules    []rule
}

func (s *seeker) ref() Ref { return Ref{kindPod, s.pod.Namespace, s.pod.Name} }

// own is the source of what the pod was made with: the object that someone would have to change, which is
// the Deployment and not its ReplicaSet.
func (s *seeker) own(path string) Source {
	o := s.origin.owner
	if o == nil || s.origin.berth != nil {
		return Source{s.ref(), path}
	}
	top := Ref{o.Kind, o.Namespace, o.Name}
	if up := o.Controller; up != nil && (up.Kind == kindDeployment || up.Kind == kindCronJob) {
		top.Kind, top.Name = up.Kind, up.Name
	}
	if top.Kind == kindCronJob {
		return Source{top, "spec.jobTemplate.spec.template." + path}
	}
	return Source{top, "spec.template." + path}
}

// source is the owner's template if that has the rule, and else the pod.
func (s *seeker) source(actor Actor, path string) Source {
	if actor == Author {
		return s.own(path)
	}
	return Source{s.ref(), path}
}

func (s *seeker) add(r rule) { s.rules = append(s.rules, r) }

// soft adds a rule that never stops.
func (s *seeker) soft(code reason.Code, actor Actor, path, message string) {
	s.add(rule{Constraint: constraint(code, actor, s.source(actor, path), message)})
}

// reasons goes over all reasons of all nodes.
func (s *seeker) reasons(each func(node string, r fit.Reason)) {
	for _, v := range s.verdicts {
		for _, r := range v.Reasons {
			each(v.Node, r)
		}
	}
}

// count is how many nodes a rule shuts out.
func (s *seeker) count(blames func(fit.Reason) bool) int {
	n := 0
	for _, v := range s.verdicts {
		if slices.ContainsFunc(v.Reasons, blames) {
			n++
		}
	}
	return n
}
