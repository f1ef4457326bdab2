package fit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spreadRule is a spread constraint with DoNotSchedule, and how pods are spread by it.
type spreadRule struct {
	path     string
	key      string
	selector labels.Selector
	skew     Skew           // all of it but Matching, which is each domain's
	matching map[string]int // pods in each domain that counts
}

// spread finds the hard spread constraints that one pod more on the node would break. The scheduler stops
// at the first of them. Those with ScheduleAnyway, and the default ones, are preferences.
func spread(q *question) filter {
	rules, err := spreadRules(q.pod)
	if err != nil {
		return always(Reason{Kind: Contradiction, Plugin: PluginSpread, Path: "spec.topologySpreadConstraints",
			text: "its spread constraints can't be read: " + err.Error(), stage: before})
	}
	if len(rules) == 0 {
		return nil
	}
	q.count(rules)
	return func(n *node, v *Verdict) {
		quiet := false
		for i := range rules {
			r, broken := rules[i].on(n)
			if !broken || r.Kind == Spread && q.Pods == nil {
				continue
			}
			if quiet {
				r.Words = ""
			}
			quiet = true
			v.add(r)
		}
	}
}

func spreadRules(pod *corev1.Pod) ([]spreadRule, error) {
	var rules []spreadRule
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		selector, err := spreadSelector(pod, c)
		if err != nil {
			return nil, err
		}
		r := spreadRule{path: fmt.Sprintf("spec.topologySpreadConstraints[%d]", i), key: c.TopologyKey, selector: selector, matching: map[string]int{},
			skew: Skew{Most: int(c.MaxSkew), MinDomains: 1, AffinityPolicy: corev1.NodeInclusionPolicyHonor, TaintsPolicy: corev1.NodeInclusionPolicyIgnore}}
		if c.MinDomains != nil {
			r.skew.MinDomains = int(*c.MinDomains)
		}
		if c.NodeAffinityPolicy != nil {
			r.skew.AffinityPolicy = *c.NodeAffinityPolicy
		}
		if c.NodeTaintsPolicy != nil {
			r.skew.TaintsPolicy = *c.NodeTaintsPolicy
		}
		if selector.Matches(labels.Set(pod.Labels)) {
			r.skew.Self = 1
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// spreadSelector is the constraint's selector with the pod's own values of matchLabelKeys.
func spreadSelector(pod *corev1.Pod, c *corev1.TopologySpreadConstraint) (labels.Selector, error) {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil {
		return nil, err
	}
	own := labels.Set{}
	for _, key := range c.MatchLabelKeys {
		if value, has := pod.Labels[key]; has {
			own[key] = value
		}
	}
	requirements, selectable := selector.Requirements()
	if len(own) == 0 || !selectable { // no selector selects nothing, whatever is added
		return selector, nil
	}
	return labels.SelectorFromSet(own).Add(requirements...), nil
}

// on holds the rule against a node.
func (r *spreadRule) on(n *node) (Reason, bool) {
	value, there := n.Labels[r.key]
	if !there {
		return Reason{Kind: TopologyMissing, Plugin: PluginSpread, Path: r.path, Words: "node(s) didn't match pod topology spread constraints (missing required label)",
			Topology: &Topology{r.key, "", false}, Skew: &r.skew}, true
	}
	if r.matching[value]+r.skew.Self-r.skew.Least <= r.skew.Most {
		return Reason{}, false
	}
	skew := r.skew
	skew.Matching = r.matching[value]
	return Reason{Kind: Spread, Plugin: PluginSpread, Path: r.path, Words: "node(s) didn't match pod topology spread constraints",
		Topology: &Topology{r.key, value, true}, Skew: &skew, text: podsWith(r.selector)}, true
}
