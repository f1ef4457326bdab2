package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// blamed are the rules that only verdicts show: what nodes have too little of, their taints, volumes, other
// pods' rules. After it each reason has a rule.
func (s *seeker) blamed() {
	seen := map[string]bool{}
	s.reasons(func(_ string, r fit.Reason) {
		if slices.ContainsFunc(s.rules, func(known rule) bool { return known.blames != nil && known.blames(r) }) {
			return
		}
		key := s.group(r)
		if seen[key] {
			return
		}
		seen[key] = true
		blames := func(o fit.Reason) bool { return s.group(o) == key }
		s.add(s.ruleOf(r, blames))
	})
}

// group is equal for reasons that are one rule on several nodes.
func (s *seeker) group(r fit.Reason) string {
	switch r.Kind {
	case fit.Taint:
		return string(r.Kind) + " " + r.Taint.ToString()
	case fit.Cordoned, fit.PodCount:
		return string(r.Kind)
	case fit.Resources:
		return string(r.Kind) + " " + string(r.Amount.Resource)
	case fit.AntiInverse:
		return string(r.Kind) + " " + s.repeller(r).String() + " " + otherPath(r)
	case fit.AttachLimit:
		return string(r.Kind) + " " + r.Volumes.Driver
	}
	key := string(r.Kind) + " " + r.Path + " " + r.Name
	if r.Other != nil {
		key += " " + r.Other.Kind + " " + r.Other.Namespace + " " + r.Other.Name
	}
	return key
}

func otherPath(r fit.Reason) string {
	if r.Other == nil {
		return ""
	}
	return r.Other.Path
}

// repeller is the workload whose rule keeps the pod away.
func (s *seeker) repeller(r fit.Reason) Ref {
	if r.Other == nil {
		return Ref{}
	}
	if p := s.cluster.pod(r.Other.Namespace, r.Other.Name); p != nil {
		return s.cluster.WorkloadOf(p)
	}
	return Ref{r.Other.Kind, r.Other.Namespace, r.Other.Name}
}

func (s *seeker) ruleOf(r fit.Reason, blames func(fit.Reason) bool) rule {
	n := s.count(blames)
	switch r.Kind {
	case fit.Taint:
		return s.taint(r, n, blames)
	case fit.Cordoned:
		cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
		return rule{Constraint: constraint(reason.UnschedulableNode, Unknown, Source{Ref{kindNode, "", s.onlyNode(blames)}, "spec.unschedulable"},
			fmt.Sprintf("%s cordoned", plural(n, "node")+" "+isAre(n))), blames: blames, cut: cut{tolerate: []corev1.Taint{cordon}}}
	case fit.Resources:
		return s.resource(r, n, blames)
	case fit.PodCount:
		return rule{Constraint: constraint(reason.PodCount, Unknown, Source{Ref{kindNode, "", s.onlyNode(blames)}, "status.allocatable.pods"},
			fmt.Sprintf("%s as many pods as it takes", plural(n, "node")+have(n))), blames: blames, settled: true}
	case fit.AntiInverse:
		return s.inverse(r, blames)
	case fit.NodeName:
		return rule{Constraint: constraint(reason.NodeNamePin, Unknown, Source{s.ref(), "spec.nodeName"}, "spec.nodeName is "+r.Name), blames: blames, settled: true}
	}
	if v, ok := s.volume(r, blames); ok {
		return v
	}
	// What package fit has and this one does not know: its own words, under its own code.
	return rule{Constraint: constraint(reason.Code(r.Kind), Unknown, s.sourceOf(r), r.String()), blames: blames, cut: cutAt(r.Path), settled: r.Path == ""}
}

// onlyNode is the node if it is one, and empty if several.
func (s *seeker) onlyNode(blames func(fit.Reason) bool) string {
	only, n := "", 0
	s.reasons(func(node string, r fit.Reason) {
		if blames(r) {
			only = node
			n++
		}
	})
	if n == 1 {
		return only
	}
	return ""
}

func (s *seeker) sourceOf(r fit.Reason) Source {
	if r.Path == "" && r.Other != nil {
		return Source{Ref{r.Other.Kind, r.Other.Namespace, r.Other.Name}, r.Other.Path}
	}
	return Source{s.ref(), r.Path}
}

func (s *seeker) taint(r fit.Reason, n int, blames func(fit.Reason) bool) rule {
	actor := Unknown
	if strings.HasPrefix(r.Taint.Key, "node.kubernetes.io/") || strings.HasPrefix(r.Taint.Key, "node.cloudprovider.kubernetes.io/") {
		actor = Controller
	}
	t := corev1.Taint{Key: r.Taint.Key, Value: r.Taint.Value, Effect: r.Taint.Effect}
	return rule{Constraint: constraint(reason.NodeTaint, actor, Source{Ref{kindNode, "", s.onlyNode(blames)}, "spec.taints"},
		fmt.Sprintf("does not tolerate the taint %s, which %s", t.ToString(), plural(n, "node")+have(n))), blames: blames, cut: cut{tolerate: []corev1.Taint{t}}}
}

func (s *seeker) resource(r fit.Reason, n int, blames func(fit.Reason) bool) rule {
	name := r.Amount.Resource
	most := r
	s.reasons(func(_ string, o fit.Reason) {
		if blames(o) && free(o) > free(most) {
			most = o
		}
	})
	actor := s.origin.of(berthContainer("step", "resources", "requests", string(name)), func(t *corev1.PodSpec) bool {
		if t.Overhead[name] != s.pod.Spec.Overhead[name] {
			return false
		}
		return slices.ContainsFunc(slices.Concat(t.InitContainers, t.Containers), func(k corev1.Container) bool {
			_, request := k.Resources.Requests[name]
			_, limit := k.Resources.Limits[name]
			return request || limit
		})
	})
	message := fmt.Sprintf("requests %s %s, and %s less left", r.Amount.Requested.String(), name, plural(n, "node")+have(n))
	if n := len(s.verdicts); n > 0 && s.count(blames) == n {
		left := most.Amount.Allocatable.DeepCopy()
		left.Sub(most.Amount.Used)
		if left.Sign() < 0 {
			left.Set(0)
		}
		message += fmt.Sprintf("; the most that any has left is %s", left.String())
	}
	return rule{Constraint: constraint(reason.Resources, actor, s.source(actor, r.Path), message),
		blames: blames, cut: cut{resources: []corev1.ResourceName{name}}}
}

// free is what a node has left of the resource, for comparing.
func free(r fit.Reason) float64 {
	return r.Amount.Allocatable.AsApproximateFloat64() - r.Amount.Used.AsApproximateFloat64()
}

func (s *seeker) inverse(r fit.Reason, blames func(fit.Reason) bool) rule {
	who := s.repeller(r)
	others, path := s.replicas(who), otherPath(r)
	return rule{Constraint: constraint(reason.AntiAffinityInverse, Unknown, Source{who, path},
		fmt.Sprintf("%s keeps it away, by an anti-affinity of its own (%s)", who, plural(len(others), "pod"))), blames: blames, others: others, path: path}
}
