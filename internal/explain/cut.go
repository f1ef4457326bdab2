package explain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// cut is what is taken away from a pod so that a rule is gone. Indexes are those of the pod as it is: one
// cut takes away everything at once.
type cut struct {
	selector    []string              // keys of nodeSelector
	affinity    bool                  // all of the required node affinity
	expressions []int                 // of its only term; matchFields go on counting after matchExpressions
	near        []int                 // required pod affinity
	apart       []int                 // required pod anti-affinity
	spread      []int                 // topology spread constraints
	volumes     []int                 // as if they were not mounted
	ports       []int32               // of the host
	resources   []corev1.ResourceName // as if it requested none
	tolerate    []corev1.Taint        // as if it tolerated these
	gates       bool
}

// and takes away what either does.
func (c cut) and(o cut) cut {
	return cut{slices.Concat(c.selector, o.selector), c.affinity || o.affinity, slices.Concat(c.expressions, o.expressions),
		slices.Concat(c.near, o.near), slices.Concat(c.apart, o.apart), slices.Concat(c.spread, o.spread), slices.Concat(c.volumes, o.volumes),
		slices.Concat(c.ports, o.ports), slices.Concat(c.resources, o.resources), slices.Concat(c.tolerate, o.tolerate), c.gates || o.gates}
}

// from gives a pod that is the same but for what is taken away.
func (c cut) from(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	for _, key := range c.selector {
		delete(p.Spec.NodeSelector, key)
	}
	c.fromAffinity(p.Spec.Affinity)
	p.Spec.TopologySpreadConstraints = omit(p.Spec.TopologySpreadConstraints, c.spread)
	p.Spec.Volumes = omit(p.Spec.Volumes, c.volumes)
	for _, t := range c.tolerate {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: t.Effect})
	}
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			c.fromContainer(&containers[i])
		}
	}
	for _, name := range c.resources {
		delete(p.Spec.Overhead, name)
		if r := p.Spec.Resources; r != nil {
			delete(r.Requests, name)
			delete(r.Limits, name)
		}
	}
	if c.gates {
		p.Spec.SchedulingGates = nil
	}
	return p
}

func (c cut) fromAffinity(a *corev1.Affinity) {
	if a == nil {
		return
	}
	if n := a.NodeAffinity; n != nil {
		switch r := n.RequiredDuringSchedulingIgnoredDuringExecution; {
		case c.affinity:
			n.RequiredDuringSchedulingIgnoredDuringExecution = nil
		case r != nil && len(c.expressions) > 0:
			t := &r.NodeSelectorTerms[0]
			labels := len(t.MatchExpressions)
			var fields []int
			for _, i := range c.expressions {
				fields = append(fields, i-labels)
			}
			t.MatchExpressions, t.MatchFields = omit(t.MatchExpressions, c.expressions), omit(t.MatchFields, fields)
			if len(t.MatchExpressions)+len(t.MatchFields) == 0 { // an empty term matches nothing
				n.RequiredDuringSchedulingIgnoredDuringExecution = nil
			}
		}
	}
	if n := a.PodAffinity; n != nil {
		n.RequiredDuringSchedulingIgnoredDuringExecution = omit(n.RequiredDuringSchedulingIgnoredDuringExecution, c.near)
	}
	if n := a.PodAntiAffinity; n != nil {
		n.RequiredDuringSchedulingIgnoredDuringExecution = omit(n.RequiredDuringSchedulingIgnoredDuringExecution, c.apart)
	}
}

func (c cut) fromContainer(k *corev1.Container) {
	k.Ports = slices.DeleteFunc(k.Ports, func(p corev1.ContainerPort) bool { return slices.Contains(c.ports, p.HostPort) })
	for _, name := range c.resources {
		delete(k.Resources.Requests, name)
		delete(k.Resources.Limits, name)
	}
}

// omit gives the list without some of its items.
func omit[T any](list []T, indexes []int) []T {
	if len(indexes) == 0 {
		return list
	}
	var kept []T
	for i, item := range list {
		if !slices.Contains(indexes, i) {
			kept = append(kept, item)
		}
	}
	return kept
}

const (
	pathNear   = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	pathApart  = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	pathNodes  = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
	pathSpread = "spec.topologySpreadConstraints"
	pathVolume = "spec.volumes"
)

var indexed = regexp.MustCompile(`^(.*?)\[(\d+)\]`)

// cutAt is what takes away the field at a path.
func cutAt(path string) cut {
	if strings.HasPrefix(path, pathNodes) {
		return cut{affinity: true}
	}
	at := indexed.FindStringSubmatch(path)
	if at == nil {
		return cut{}
	}
	i, _ := strconv.Atoi(at[2])
	switch at[1] {
	case pathNear:
		return cut{near: []int{i}}
	case pathApart:
		return cut{apart: []int{i}}
	case pathSpread:
		return cut{spread: []int{i}}
	case pathVolume:
		return cut{volumes: []int{i}}
	}
	return cut{}
}
