package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

// ports are the ports of the host that the pod wants, each a rule.
func (s *seeker) ports() {
	seen := map[int32]bool{}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", s.pod.Spec.InitContainers}, {"containers", s.pod.Spec.Containers}} {
		for i, k := range list.containers {
			for j, p := range k.Ports {
				if p.HostPort == 0 || seen[p.HostPort] {
					continue
				}
				seen[p.HostPort] = true
				s.port(p.HostPort, k.Name, fmt.Sprintf("spec.%s[%d].ports[%d].hostPort", list.name, i, j))
			}
		}
	}
}

func (s *seeker) port(port int32, container, path string) {
	actor := s.origin.of(berthContainer(container, "ports"), func(t *corev1.PodSpec) bool {
		return slices.ContainsFunc(slices.Concat(t.InitContainers, t.Containers), func(k corev1.Container) bool {
			return slices.ContainsFunc(k.Ports, func(p corev1.ContainerPort) bool { return p.HostPort == port })
		})
	})
	blames := func(r fit.Reason) bool { return r.Kind == fit.HostPort && r.Port != nil && r.Port.Number == port }
	message := fmt.Sprintf("wants the host's port %d", port)
	if others := s.others(blames); len(others) > 0 {
		message += ", which is taken by " + some(others, 3)
	}
	s.add(rule{Constraint: constraint(reason.HostPort, actor, s.source(actor, path), message), blames: blames, cut: cut{ports: []int32{port}}})
}

// others names the workloads of the pods that reasons point to: on nodes that nothing else shuts, if there
// are such, since those are the ones to look at.
func (s *seeker) others(blames func(fit.Reason) bool) []string {
	var all, alone []string
	for _, v := range s.verdicts {
		for _, r := range v.Reasons {
			if !blames(r) || r.Other == nil || r.Other.Kind != kindPod {
				continue
			}
			name := s.repeller(r).String()
			if all = append(all, name); len(v.Reasons) == 1 {
				alone = append(alone, name)
			}
		}
	}
	if len(alone) > 0 {
		all = alone
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// some names a few of them, and how many more there are.
func some(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func berthContainer(name string, fields ...string) (p []segment) {
	p = append(field("containers"), segment{Name: name, Item: true})
	return append(p, field(fields...)...)
}
