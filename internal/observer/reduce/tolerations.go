package reduce

import (
	corev1 "k8s.io/api/core/v1"

	observer "github.com/berthdev/berth/api/observer/v1"
)

func (t *trimmer) tolerations(s *corev1.PodSpec, daemon bool) []observer.Toleration {
	t.field = "tolerations"
	var asked []*corev1.Toleration
	for i := range s.Tolerations {
		if o := &s.Tolerations[i]; !byAdmission(o) && !(daemon && byDaemonSet(o, s.HostNetwork)) {
			asked = append(asked, o)
		}
	}
	var made []observer.Toleration
	for i, o := range list(t, asked) {
		// Without its key it would tolerate everything, and without its value something else.
		if !t.fits(o.Key, MostKey, "key", i) || !t.fits(o.Value, t.text(), "value", i) ||
			!t.fits(string(o.Operator), t.text(), "operator", i) || !t.fits(string(o.Effect), t.text(), "effect", i) {
			continue
		}
		n := observer.Toleration{Key: o.Key, Operator: string(o.Operator), Value: o.Value, Effect: string(o.Effect)}
		if n.Operator == "" {
			n.Operator = string(corev1.TolerationOpEqual)
		}
		if o.TolerationSeconds != nil {
			seconds := *o.TolerationSeconds
			n.Seconds = &seconds
		}
		made = append(made, n)
	}
	return sorted(made)
}

// byAdmission says whether the toleration is one that the admission plugin DefaultTolerationSeconds gives
// every pod which has none like it. The match is exact: one with other seconds, or without a key, was asked
// for.
func byAdmission(o *corev1.Toleration) bool {
	return (o.Key == corev1.TaintNodeNotReady || o.Key == corev1.TaintNodeUnreachable) && o.Operator == corev1.TolerationOpExists &&
		o.Value == "" && o.Effect == corev1.TaintEffectNoExecute && o.TolerationSeconds != nil && *o.TolerationSeconds == 300
}

// byDaemonSet says whether the toleration is one that the DaemonSet controller gives all of its pods
// (AddOrUpdateDaemonPodTolerations in k8s.io/kubernetes/pkg/controller/daemon/util).
func byDaemonSet(o *corev1.Toleration, hostNetwork bool) bool {
	if o.Operator != corev1.TolerationOpExists || o.Value != "" || o.TolerationSeconds != nil {
		return false
	}
	switch o.Key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable:
		return o.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable:
		return o.Effect == corev1.TaintEffectNoSchedule
	case corev1.TaintNodeNetworkUnavailable:
		return hostNetwork && o.Effect == corev1.TaintEffectNoSchedule
	}
	return false
}
