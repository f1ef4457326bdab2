package reduce

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// placement reduces what a pod asks of its node. daemon says that the DaemonSet controller made the pod.
func placement(p *corev1.Pod, daemon bool, bounds Bounds) *Block[observer.Placement] {
	t := &trimmer{Bounds: bounds}
	s := &p.Spec
	var made observer.Placement
	made.NodeSelector = t.nodeSelector(s.NodeSelector)
	if a := s.Affinity; a != nil {
		made.NodeAffinity = t.nodeAffinity(a.NodeAffinity, daemon)
		if a.PodAffinity != nil {
			made.PodAffinity = t.podTerms("pod_affinity", p, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			made.PodAntiAffinity = t.podTerms("pod_anti_affinity", p, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
				a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	made.TopologySpread = t.spread(p)
	made.Tolerations = t.tolerations(s, daemon)
	t.words(s, &made)
	return block(made, t.drops)
}

// words reads what is a single value.
func (t *trimmer) words(s *corev1.PodSpec, made *observer.Placement) {
	t.field = "priority_class"
	made.PriorityClass = t.word(s.PriorityClassName, MostName)
	if s.Priority != nil {
		made.Priority = *s.Priority
	}
	if g := s.TerminationGracePeriodSeconds; g != nil && *g != corev1.DefaultTerminationGracePeriodSeconds {
		seconds := *g
		made.TerminationGraceSeconds = &seconds
	}
	made.HostNetwork = s.HostNetwork
	if s.SchedulerName != corev1.DefaultSchedulerName {
		t.field = "scheduler_name"
		made.SchedulerName = t.word(s.SchedulerName, MostName)
	}
	if s.RuntimeClassName != nil {
		t.field = "runtime_class"
		made.RuntimeClass = t.word(*s.RuntimeClassName, MostName)
	}
	t.field = "scheduling_gates"
	for i, g := range list(t, s.SchedulingGates) {
		if t.fits(g.Name, MostKey, "name", i) {
			made.SchedulingGates = append(made.SchedulingGates, g.Name)
		}
	}
	slices.Sort(made.SchedulingGates)
	made.ResourceClaims = len(s.ResourceClaims)
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy == corev1.PreemptNever {
		made.PreemptionPolicy = string(corev1.PreemptNever)
	}
}

func (t *trimmer) nodeSelector(all map[string]string) map[string]string {
	t.field = "node_selector"
	if len(all) == 0 {
		return nil
	}
	if len(all) > MostEntries {
		t.drop(true, "")
		return nil
	}
	made := make(map[string]string, len(all))
	for k, v := range all {
		if len(k) > MostKey || len(v) > t.text() {
			t.drop(false, k)
			continue
		}
		made[k] = v
	}
	return made
}

// sorted gives the items in the order of their bytes in a payload.
func sorted[T any](items []T) []T {
	if len(items) < 2 {
		return items
	}
	keyed := make([]struct {
		bytes []byte
		item  T
	}, len(items))
	for i, item := range items {
		data, err := observer.Encode(item)
		if err != nil {
			panic(err) // the items are plain data
		}
		keyed[i].bytes, keyed[i].item = data, item
	}
	slices.SortStableFunc(keyed, func(a, b struct {
		bytes []byte
		item  T
	}) int {
		return bytes.Compare(a.bytes, b.bytes)
	})
	for i := range keyed {
		items[i] = keyed[i].item
	}
	return items
}
