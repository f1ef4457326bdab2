package reduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	observer "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

func text(n int) string { return strings.Repeat("x", n) }

// key is a label key of n bytes.
func labelKey(n int) string { return text(n-64) + "/" + text(63) }

func required(keys ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: keys}}}}}
}

func several[T any](n int, make func(i int) T) []T {
	var all []T
	for i := range n {
		all = append(all, make(i))
	}
	return all
}

// bounds are all there are: what has a size, the size that is still said, and in which field it is when it is
// not. Where Kubernetes has a maximum of its own, it is said in a comment; none of them is past a bound.
var bounds = []struct {
	what  string
	most  int
	field string
	set   func(p *corev1.Pod, n int)
}{
	{"key of a node selector", reduce.MostKey, "node_selector", func(p *corev1.Pod, n int) { p.Spec.NodeSelector = map[string]string{labelKey(n): "v"} }}, // 317
	{"value of a node selector", 128, "node_selector", func(p *corev1.Pod, n int) { p.Spec.NodeSelector = map[string]string{"k": text(n)} }},              // 63
	{"entries of a node selector", reduce.MostEntries, "node_selector", func(p *corev1.Pod, n int) {
		p.Spec.NodeSelector = map[string]string{}
		for i := range n {
			p.Spec.NodeSelector[fmt.Sprint(i)] = "v"
		}
	}},
	{"key of a node affinity", reduce.MostKey, "node_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = required(corev1.NodeSelectorRequirement{Key: labelKey(n), Operator: "Exists"}) // 317
	}},
	{"value of a node affinity", 128, "node_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = required(corev1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: []string{text(n)}}) // 63
	}},
	{"node name in a node affinity", reduce.MostName, "node_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = required()
		p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields =
			[]corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{text(n)}}} // 253
	}},
	{"values of an expression", reduce.MostValues, "node_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = required(corev1.NodeSelectorRequirement{Key: "k", Operator: "In", Values: several(n, func(i int) string { return fmt.Sprint(i) })})
	}},
	{"expressions of a node affinity", reduce.MostTerms, "node_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = required(several(n, func(i int) corev1.NodeSelectorRequirement {
			return corev1.NodeSelectorRequirement{Key: fmt.Sprint(i), Operator: "Exists"}
		})...)
	}},
	{"topology key of a pod affinity", reduce.MostKey, "pod_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: labelKey(n)}}}} // 317
	}},
	{"terms of a pod anti-affinity", reduce.MostTerms, "pod_anti_affinity", func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: several(n, func(int) corev1.PodAffinityTerm {
			return corev1.PodAffinityTerm{TopologyKey: "k"}
		})}}
	}},
	{"topology key of a spread", reduce.MostKey, "topology_spread", func(p *corev1.Pod, n int) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: labelKey(n), MaxSkew: 1, WhenUnsatisfiable: "DoNotSchedule"}} // 317
	}},
	{"spread constraints", reduce.MostTerms, "topology_spread", func(p *corev1.Pod, n int) {
		p.Spec.TopologySpreadConstraints = several(n, func(int) corev1.TopologySpreadConstraint { return corev1.TopologySpreadConstraint{TopologyKey: "k"} })
	}},
	{"key of a toleration", reduce.MostKey, "tolerations", func(p *corev1.Pod, n int) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: labelKey(n), Operator: "Exists"}} // 317
	}},
	{"value of a toleration", 128, "tolerations", func(p *corev1.Pod, n int) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "k", Value: text(n)}} // 63
	}},
	{"tolerations", reduce.MostTerms, "tolerations", func(p *corev1.Pod, n int) {
		p.Spec.Tolerations = several(n, func(int) corev1.Toleration { return corev1.Toleration{Key: "k", Operator: "Exists"} })
	}},
	{"priority class", reduce.MostName, "priority_class", func(p *corev1.Pod, n int) { p.Spec.PriorityClassName = text(n) }},                                         // 253
	{"runtime class", reduce.MostName, "runtime_class", func(p *corev1.Pod, n int) { s := text(n); p.Spec.RuntimeClassName = &s }},                                   // 253
	{"scheduler name", reduce.MostName, "scheduler_name", func(p *corev1.Pod, n int) { p.Spec.SchedulerName = text(n) }},                                             // 253
	{"scheduling gate", reduce.MostKey, "scheduling_gates", func(p *corev1.Pod, n int) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: labelKey(n)}} }}, // 317
	{"scheduling gates", reduce.MostTerms, "scheduling_gates", func(p *corev1.Pod, n int) {
		p.Spec.SchedulingGates = several(n, func(i int) corev1.PodSchedulingGate { return corev1.PodSchedulingGate{Name: fmt.Sprint(i)} })
	}},
	{"node name", reduce.MostName, "nodes", func(p *corev1.Pod, n int) { p.Spec.NodeName = text(n) }}, // 253
	{"image", reduce.MostImage, "image", func(p *corev1.Pod, n int) { p.Spec.Containers[0].Image = text(n) }},
	{"ports", reduce.MostTerms, "ports", func(p *corev1.Pod, n int) {
		p.Spec.Containers[0].Ports = several(n, func(i int) corev1.ContainerPort { return corev1.ContainerPort{ContainerPort: int32(i)} })
	}},
	{"port's name", 128, "ports", func(p *corev1.Pod, n int) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: text(n)}} }},              // 15
	{"resource name", reduce.MostKey, "resources", func(p *corev1.Pod, n int) { p.Spec.Containers[0].Resources.Requests = resources(labelKey(n)) }}, // 317
	{"resource names", reduce.MostEntries, "resources", func(p *corev1.Pod, n int) {
		p.Spec.Containers[0].Resources.Limits = resources(several(n, func(i int) string { return fmt.Sprint(i) })...)
	}},
	{"overhead", reduce.MostEntries, "overhead", func(p *corev1.Pod, n int) {
		p.Spec.Overhead = resources(several(n, func(i int) string { return fmt.Sprint(i) })...)
	}},
}

func resources(names ...string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for _, n := range names {
		all[corev1.ResourceName(n)] = resource.MustParse("1")
	}
	return all
}

// What is as large as its bound is said, with all of it. What is larger by one is not: nothing of it is said but
// the field's name, and it is counted.
func TestBounds(t *testing.T) {
	for _, b := range bounds {
		look := func(n int) (*reduce.View, *observer.Record) {
			p := &corev1.Pod{}
			p.Spec.Containers = []corev1.Container{{Name: "c"}}
			b.set(p, n)
			before := p.DeepCopy()
			v := reduce.Look(ofPods(p), reduce.Options{})
			if !equal(p, before) {
				t.Errorf("%s: the pod was written to", b.what)
			}
			for r := range v.EachRecord() {
				return v, r
			}
			t.Fatalf("%s: no record", b.what)
			return nil, nil
		}
		v, r := look(b.most)
		if len(r.Incomplete) > 0 || v.PlacementTermsDropped+v.PlacementValuesDropped > 0 {
			t.Errorf("%s of %d: %v is incomplete", b.what, b.most, r.Incomplete)
		}
		v, r = look(b.most + 1)
		if !slices.Equal(r.Incomplete, []string{b.field}) || v.PlacementTermsDropped+v.PlacementValuesDropped != 1 {
			t.Errorf("%s of %d: %v is incomplete, want %s; dropped %d values and %d terms", b.what, b.most+1, r.Incomplete, b.field, v.PlacementValuesDropped, v.PlacementTermsDropped)
		}
		if said := string(workloads(t, v)); strings.Contains(said, "xxxxxxxx") {
			t.Errorf("%s of %d: a part of it is said: %s", b.what, b.most+1, said)
		}
	}
}

// The bound of ordinary strings can be set; the others can't.
func TestStringBytes(t *testing.T) {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Name: "c"}}
	p.Spec.NodeSelector = map[string]string{labelKey(300): text(63)}
	for _, limit := range []int{62, 63} {
		c := ofPods()
		c.Pods = slices.Values([]*reduce.Pod{reduce.OfPod(p, reduce.Bounds{StringBytes: limit})})
		v := reduce.Look(c, reduce.Options{})
		if got, want := v.PlacementValuesDropped, 63-limit; got != want {
			t.Errorf("with %d bytes %d values are dropped, want %d", limit, got, want)
		}
	}
}

// A drop is counted once for each record that lacks it, however many pods there are; and a name that is too long
// to be a key's excludes its pod.
func TestDropsAreCounted(t *testing.T) {
	made := func(name string) *corev1.Pod {
		p := &corev1.Pod{}
		p.Name = name
		p.OwnerReferences = ownedBy("Thing", "t")
		p.Spec.Containers = []corev1.Container{{Name: "a"}, {Name: "b"}}
		p.Spec.NodeSelector = map[string]string{"k": text(129), "l": text(129)}
		return p
	}
	v := reduce.Look(ofPods(made("1"), made("2"), made("3")), reduce.Options{})
	if v.Records != 2 || v.PlacementValuesDropped != 4 {
		t.Errorf("%d records, %d values dropped", v.Records, v.PlacementValuesDropped)
	}
	long := made("1")
	long.OwnerReferences[0].Kind = text(129)
	v = reduce.Look(ofPods(long), reduce.Options{})
	if v.Records != 0 || v.PodsExcluded[observer.ExcludedNameTooLong] != 1 {
		t.Errorf("%+v", v.Counts)
	}
}

// The block of a pod that asks for nothing is {}, and its record has no placement.
func TestUnconstrained(t *testing.T) {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Name: "c"}}
	facts := reduce.OfPod(p, reduce.Bounds{})
	if data, err := observer.Encode(facts.Placement.Body); err != nil || string(data) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
	if v := facts.Placement.Variant(); v != "44136fa355b3" { // printf '{}' | sha256sum | cut -c 1-12
		t.Errorf("variant %s", v)
	}
	if said := string(workloads(t, reduce.Look(ofPods(p), reduce.Options{}))); strings.Contains(said, "placement") {
		t.Errorf("%s", said)
	}
}
