package fit

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// dice makes nodes and pods of few words, so that they often have to do with each other. All of it would
// be accepted by an API server, if with surprise.
type dice struct {
	*rand.Rand
	count int
	mood  mood
}

// mood is what a cluster has plenty of, so that a pod's rules don't all hide behind the first plugin's.
type mood int

const (
	mixed mood = iota // of everything
	calm              // rules between pods, and little else
	crowd             // pods of one kind, to be spread
	moods
)

func newDice(seed, number uint64) *dice { return &dice{Rand: rand.New(rand.NewPCG(seed, number))} }

// one in n.
func (d *dice) one(n int) bool { return d.IntN(n) == 0 }

func of[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

func (d *dice) upTo(n int, each func()) {
	for range d.IntN(n + 1) {
		each()
	}
}

const (
	hostKey = corev1.LabelHostname
	zoneKey = corev1.LabelTopologyZone
)

// nodes are n0 to n4, with what a test may change of them.
func (d *dice) nodes() []*corev1.Node {
	var nodes []*corev1.Node
	for i := range 5 {
		nodes = append(nodes, d.node(fmt.Sprintf("n%d", i)))
	}
	return nodes
}

func (d *dice) node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"test": "yes"}}}
	label := func(key string, mostly int, values ...string) {
		if !d.one(mostly) {
			n.Labels[key] = of(d, values...)
		}
	}
	label(hostKey, 10, name)
	label(zoneKey, 6, "a", "b", "b", "c")
	label(corev1.LabelFailureDomainBetaZone, 2, "a", "b")
	label("rack", 3, "r1", "r2")
	label("mem", 4, "100", "150", "200", "0150", "5", "many")
	label("disk", 3, "ssd", "hdd", "")
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("64Gi"), "ephemeral-storage": resource.MustParse("100Gi"), "pods": resource.MustParse("110")}
	switch d.mood {
	case calm:
		return n
	case crowd:
		n.Labels[zoneKey] = of(d, "a", "a", "b")
		if d.one(4) {
			n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
		}
		return n
	}
	d.upTo(2, func() {
		t := corev1.Taint{Key: of(d, "dedicated", "sla"), Value: of(d, "", "900", "950", "1000", "3", "0950", "gold"), Effect: of(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)}
		if len(n.Spec.Taints) == 0 || n.Spec.Taints[0].Key != t.Key {
			n.Spec.Taints = append(n.Spec.Taints, t)
		}
	})
	if d.one(2) {
		n.Spec.Taints = nil
	}
	if n.Spec.Unschedulable = d.one(10); n.Spec.Unschedulable {
		n.Spec.Taints = append(n.Spec.Taints, cordonTaint)
	}
	n.Status.Allocatable = corev1.ResourceList{
		"cpu": resource.MustParse(of(d, "1", "2", "4", "1500m")), "memory": resource.MustParse(of(d, "1Gi", "2Gi", "4Gi")),
		"ephemeral-storage": resource.MustParse(of(d, "5Gi", "10Gi")), "pods": resource.MustParse(of(d, "3", "5", "8")),
	}
	if d.one(2) {
		n.Status.Allocatable["example.com/gpu"] = resource.MustParse(of(d, "0", "1", "2"))
	}
	return n
}

// pod is a pod with a few demands.
func (d *dice) pod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: of(d, "shop", "shop", "shop", "data", "infra"), Labels: d.labels()}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "image"}}
	switch d.mood {
	case crowd:
		p.Namespace = of(d, "shop", "shop", "shop", "data")
		p.Labels["app"] = of(d, "web", "web", "web", "db")
		d.spread(p)
		if d.one(3) {
			of(d, d.selector, d.nodeAffinity, d.tolerations)(p)
		}
		return p
	case calm:
		for range 1 + d.IntN(2) {
			of(d, d.podAffinity, d.antiAffinity, d.antiAffinity, d.spread, d.spread, d.claims, d.ports, d.ports, d.tolerations)(p)
		}
		return p
	}
	demands := []func(*corev1.Pod){d.tolerations, d.selector, d.nodeAffinity, d.ports, d.requests, d.requests, d.podAffinity, d.antiAffinity, d.antiAffinity, d.spread, d.spread, d.claims}
	d.tolerations(p)
	for range 1 + d.IntN(3) {
		of(d, demands...)(p)
	}
	return p
}

func (d *dice) labels() map[string]string {
	m := map[string]string{}
	label := func(key string, values ...string) {
		if !d.one(4) {
			m[key] = of(d, values...)
		}
	}
	label("app", "web", "db")
	label("rev", "1", "2")
	label("tier", "")
	return m
}

func (d *dice) tolerations(p *corev1.Pod) {
	d.upTo(2, func() {
		t := corev1.Toleration{Key: of(d, "dedicated", "sla", "sla"), Effect: of(d, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)}
		switch t.Operator = of(d, corev1.TolerationOpExists, corev1.TolerationOpEqual, "", corev1.TolerationOpGt, corev1.TolerationOpLt); t.Operator {
		case corev1.TolerationOpExists:
		case corev1.TolerationOpGt, corev1.TolerationOpLt:
			t.Value = of(d, "900", "950", "1000", "3", "0")
		default:
			t.Value = of(d, "", "900", "gold")
		}
		if d.one(8) {
			t = corev1.Toleration{Operator: corev1.TolerationOpExists}
		}
		p.Spec.Tolerations = append(p.Spec.Tolerations, t)
	})
}

func (d *dice) selector(p *corev1.Pod) {
	p.Spec.NodeSelector = map[string]string{of(d, "disk", "disk", "rack", zoneKey, hostKey): of(d, "ssd", "hdd", "", "r1", "a", "b", "n1")}
}

func (d *dice) requirement() corev1.NodeSelectorRequirement {
	r := corev1.NodeSelectorRequirement{Key: of(d, "mem", "mem", "disk", "rack", zoneKey, "none"),
		Operator: of(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt)}
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for range 1 + d.IntN(2) {
			r.Values = append(r.Values, of(d, "ssd", "hdd", "", "r1", "a", "b", "150", "150.1"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		r.Values = []string{of(d, "100", "150", "150.1", "1e3", "99999999999999999999", "0x10", "0120", "many")}
	}
	return r
}

func (d *dice) nodeAffinity(p *corev1.Pod) {
	required := &corev1.NodeSelector{}
	for range 1 + d.IntN(3) {
		t := corev1.NodeSelectorTerm{}
		d.upTo(2, func() { t.MatchExpressions = append(t.MatchExpressions, d.requirement()) })
		if d.one(4) {
			t.MatchFields = append(t.MatchFields, corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: of(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{of(d, "n0", "n1", "n2", "gone")}})
			if d.one(3) {
				t.MatchFields = append(t.MatchFields, corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{of(d, "n0", "n1")}})
			}
		}
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, t)
	}
	affinityIn(p).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}
	if d.one(3) {
		affinityIn(p).NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: 10, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "none", Operator: corev1.NodeSelectorOpExists}}}}}
	}
}

func affinityIn(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func (d *dice) ports(p *corev1.Pod) {
	port := corev1.ContainerPort{ContainerPort: 80, HostPort: of[int32](d, 8080, 8080, 8081), HostIP: of(d, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2"), Protocol: of(d, "", corev1.ProtocolTCP, corev1.ProtocolUDP)}
	if d.one(5) {
		always := corev1.ContainerRestartPolicyAlways
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: d.name(), Image: "image", RestartPolicy: of(d, &always, nil), Ports: []corev1.ContainerPort{port}})
		return
	}
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{port}
}

// name is a name that the pod has not had yet.
func (d *dice) name() string { d.count++; return fmt.Sprintf("c%d", d.count) }

func (d *dice) amounts() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}}
	ask := func(name corev1.ResourceName, n int, values ...string) {
		if d.one(n) {
			r.Requests[name] = resource.MustParse(of(d, values...))
		}
	}
	ask("cpu", 2, "100m", "500m", "1", "0", "1500m")
	ask("memory", 3, "100Mi", "1Gi", "3Gi")
	ask("ephemeral-storage", 6, "1Gi", "6Gi")
	ask("example.com/gpu", 4, "1", "2")
	if q, ok := r.Requests["example.com/gpu"]; ok {
		r.Limits = corev1.ResourceList{"example.com/gpu": q}
	}
	return r
}

func (d *dice) requests(p *corev1.Pod) {
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.Containers[0].Resources = d.amounts()
	d.upTo(1, func() {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: d.name(), Image: "image", Resources: d.amounts()})
	})
	d.upTo(2, func() {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: d.name(), Image: "image", Resources: d.amounts(), RestartPolicy: of(d, &always, nil)})
	})
	if d.one(6) {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("3900m"), "memory": resource.MustParse("6Gi")}}
	}
}
