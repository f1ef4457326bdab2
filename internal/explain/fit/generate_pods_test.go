package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelSelector is one that means some pods, all or none.
func (d *dice) labelSelector() *metav1.LabelSelector {
	if d.one(12) {
		return nil
	}
	s := &metav1.LabelSelector{}
	if d.one(12) {
		return s
	}
	if !d.one(3) {
		s.MatchLabels = map[string]string{of(d, "app", "app", "tier"): of(d, "web", "db", "")}
	}
	if len(s.MatchLabels) == 0 || d.one(4) {
		r := metav1.LabelSelectorRequirement{Key: of(d, "app", "rev", "tier"), Operator: of(d, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
		if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
			r.Values = []string{of(d, "web", "db", "1", "2", "")}
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func (d *dice) terms() []corev1.PodAffinityTerm {
	var terms []corev1.PodAffinityTerm
	for range 1 + d.IntN(5)/4 {
		t := corev1.PodAffinityTerm{LabelSelector: d.labelSelector(), TopologyKey: of(d, zoneKey, zoneKey, "rack", hostKey)}
		switch d.IntN(7) {
		case 0:
			t.NamespaceSelector = &metav1.LabelSelector{}
		case 1:
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": of(d, "one", "two")}}
		case 2:
			t.Namespaces = []string{of(d, "data", "infra")}
		case 3:
			t.Namespaces = []string{"infra"}
			t.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"two"}}}}
		}
		if t.LabelSelector != nil && d.one(4) && !selectsKey("rev", t.LabelSelector) {
			if d.one(2) {
				t.MatchLabelKeys = []string{"rev"}
			} else {
				t.MismatchLabelKeys = []string{"rev"}
			}
		}
		terms = append(terms, t)
	}
	return terms
}

// selectsKey says whether a selector has the key, which label keys then must not have.
func selectsKey(key string, s *metav1.LabelSelector) bool {
	for _, r := range s.MatchExpressions {
		if r.Key == key {
			return true
		}
	}
	_, has := s.MatchLabels[key]
	return has
}

func (d *dice) podAffinity(p *corev1.Pod) {
	affinityIn(p).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.terms()}
	if d.one(3) { // a group that wants to be together
		affinityIn(p).PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector = &metav1.LabelSelector{MatchLabels: p.Labels}
		affinityIn(p).PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].MatchLabelKeys = nil
		affinityIn(p).PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].MismatchLabelKeys = nil
	}
}

func (d *dice) antiAffinity(p *corev1.Pod) {
	affinityIn(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: d.terms()}
	if d.one(3) {
		affinityIn(p).PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: d.terms()[0]}}
	}
}

func (d *dice) spread(p *corev1.Pod) {
	seen := map[string]bool{}
	p.Spec.TopologySpreadConstraints = nil
	for range 1 + d.IntN(4)/3 {
		c := corev1.TopologySpreadConstraint{MaxSkew: 1 + d.Int32N(2), TopologyKey: of(d, zoneKey, zoneKey, "rack", hostKey), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: d.labelSelector()}
		if d.mood == crowd && !d.one(5) {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		}
		if d.one(6) {
			c.WhenUnsatisfiable = corev1.ScheduleAnyway
		}
		if d.one(2) && c.WhenUnsatisfiable == corev1.DoNotSchedule {
			n := 1 + d.Int32N(4)
			c.MinDomains = &n
		}
		policy := func() *corev1.NodeInclusionPolicy {
			return of(d, nil, new(corev1.NodeInclusionPolicyHonor), new(corev1.NodeInclusionPolicyIgnore))
		}
		c.NodeAffinityPolicy, c.NodeTaintsPolicy = policy(), policy()
		if c.LabelSelector != nil && d.one(3) && !selectsKey("rev", c.LabelSelector) {
			c.MatchLabelKeys = []string{"rev"}
		}
		if key := fmt.Sprint(c.TopologyKey, c.WhenUnsatisfiable); !seen[key] {
			seen[key] = true
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
		}
	}
}

// claimNames are those of the storage that the differential test makes beforehand, and one that it does not.
var claimNames = []string{"zone-a", "zone-b", "zones", "affinity-a", "affinity-b", "local-n0", "local-gone", "csi-1", "csi-2", "csi-3", "csi-4", "once", "unbound", "lost", "none"}

func (d *dice) claims(p *corev1.Pod) {
	p.Namespace = "shop"
	seen := map[string]bool{}
	for range 1 + d.IntN(3) {
		name := of(d, claimNames...)
		if d.one(2) {
			name = of(d, claimNames[:12]...)
		}
		if !seen[name] {
			seen[name] = true
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "v" + d.name(), VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
	}
}
