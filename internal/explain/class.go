package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// classKey is equal for pods whose verdicts on all nodes but their own are the same: replicas with one spec,
// and of those whose rules count pods in domains, the ones that are in the same domains. Replicas that share
// a node apart, a rule about nodes looks alike to all of them.
func (c *Cluster) classKey(p *corev1.Pod) string {
	s := p.Spec.DeepCopy()
	s.NodeName = ""
	var own []string // what each replica has of its own
	s.Volumes = slices.DeleteFunc(s.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim != nil {
			own = append(own, v.PersistentVolumeClaim.ClaimName)
		}
		return v.Projected != nil || v.Secret != nil || v.ConfigMap != nil || v.EmptyDir != nil || v.HostPath != nil || v.DownwardAPI != nil
	})
	text, err := json.Marshal(s)
	if err != nil {
		text = []byte(p.Namespace + "/" + p.Name)
	}
	var domains []string
	for _, key := range c.countedKeys(p) {
		if n := c.nodes[p.Spec.NodeName]; n != nil {
			domains = append(domains, key+"="+n.Labels[key])
		}
	}
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%v", c.WorkloadOf(p), p.Labels, text, strings.Join(domains, ","), strings.Join(own, ","), p.DeletionTimestamp != nil)
}

// countedKeys are the topology keys of rules that count pods, but for the one that makes each node a domain.
func (c *Cluster) countedKeys(p *corev1.Pod) []string {
	var keys []string
	add := func(key string) {
		if key != corev1.LabelHostname && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, t := range p.Spec.TopologySpreadConstraints {
		if t.WhenUnsatisfiable == corev1.DoNotSchedule {
			add(t.TopologyKey)
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(t.TopologyKey)
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(t.TopologyKey)
		}
	}
	return keys
}

// Class is pods that are alike for the question where they could go: replicas in one zone.
type Class struct {
	pod  *corev1.Pod
	pods []*corev1.Pod
}

// Held is what a class of pods is held by, beside what holds each of them; see Place.
type Held struct {
	fits   map[string]bool // nodes that would take one of its pods
	rules  []Constraint    // the fewest found without which it would fit another node, if it fits none
	noRoom bool
	known  []Unread
}

// Classes are what has to be held against the nodes before a fleet can be explained: Place, for each, which
// may be done by several goroutines. Only pods on the selected nodes are in them.
func (c *Cluster) Classes(selector labels.Selector) []*Class {
	var all []*Class
	known := map[string]*Class{}
	for _, name := range c.selected(selector) {
		for _, p := range c.onNode[name] {
			if isDaemon(p) || isMirror(p) {
				continue
			}
			key := c.classKey(p)
			if known[key] == nil {
				known[key] = &Class{pod: p}
				all = append(all, known[key])
			}
			known[key].pods = append(known[key].pods, p)
		}
	}
	return all
}

func (c *Cluster) selected(selector labels.Selector) []string {
	var names []string
	for _, n := range c.snapshot.Nodes() {
		if selector == nil || selector.Matches(labels.Set(n.Labels)) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Place holds a class against all nodes.
func (c *Cluster) Place(k *Class) *Held {
	verdicts := c.snapshot.Explain(k.pod)
	h := &Held{fits: map[string]bool{}}
	for i := range verdicts {
		if verdicts[i].Fits() {
			h.fits[verdicts[i].Node] = true
		}
		for _, u := range verdicts[i].NotKnown {
			if !slices.ContainsFunc(h.known, func(o Unread) bool { return o.What == u.What }) {
				h.known = append(h.known, Unread{What: u.What, Why: u.Why})
			}
		}
	}
	here := k.pod.Spec.NodeName
	away := others(verdicts, here)
	if elsewhere(away, here) > 0 {
		return h
	}
	h.rules, h.noRoom = c.away(k.pod, away)
	return h
}

// elsewhere says whether one of the class that is on a node fits another. The node of the one that was asked
// for has that one on it.
func (h *Held) elsewhere(here, asked string) bool {
	n := len(h.fits)
	if h.fits[here] {
		n--
	}
	if asked != here && h.fits[asked] {
		n--
	}
	return n > 0
}
