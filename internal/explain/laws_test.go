package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/reason"
)

var (
	words = []string{"x", "y", "z"}
	keys  = []string{"zone", "pool", corev1.LabelHostname}
)

func pick[T any](t *rapid.T, from ...T) T { return rapid.SampledFrom(from).Draw(t, "pick") }

func selectorOf(t *rapid.T) *metav1.LabelSelector {
	if rapid.IntRange(0, 4).Draw(t, "all") == 0 {
		return &metav1.LabelSelector{}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(t, words...)}}
}

func quantity(t *rapid.T) corev1.ResourceList {
	return corev1.ResourceList{"cpu": *resource.NewQuantity(int64(rapid.IntRange(0, 5).Draw(t, "cpu")), resource.DecimalSI)}
}

// aPod has few words and rules, so that pods often meet.
func aPod(t *rapid.T, name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(t, "d", "e"), Labels: map[string]string{"app": pick(t, words...)}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: quantity(t)}}}}}
	if rapid.Bool().Draw(t, "owned") {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: pick(t, "r", "s"), Controller: &yes}}
	}
	if rapid.Bool().Draw(t, "selects") {
		p.Spec.NodeSelector = map[string]string{pick(t, keys...): pick(t, words...)}
	}
	if rapid.Bool().Draw(t, "tolerates") {
		p.Spec.Tolerations = []corev1.Toleration{{Key: pick(t, words...), Operator: corev1.TolerationOpExists}}
	}
	if rapid.Bool().Draw(t, "port") {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 1, HostPort: int32(rapid.IntRange(80, 81).Draw(t, "host"))}}
	}
	a := &corev1.Affinity{}
	if rapid.Bool().Draw(t, "apart") {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: pick(t, keys...), LabelSelector: selectorOf(t)}}}
	}
	if rapid.IntRange(0, 3).Draw(t, "near") == 0 {
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: pick(t, keys...), LabelSelector: selectorOf(t)}}}
	}
	if rapid.IntRange(0, 3).Draw(t, "required") == 0 {
		a.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}
		for range rapid.IntRange(0, 2).Draw(t, "terms") {
			term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: pick(t, keys...), Operator: pick(t, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(t, words...)}},
				{Key: pick(t, keys...), Operator: pick(t, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt), Values: nil}}}
			if term.MatchExpressions[1].Operator == corev1.NodeSelectorOpGt {
				term.MatchExpressions[1].Values = []string{pick(t, "1", "1.5")}
			}
			terms := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
			*terms = append(*terms, term)
		}
	}
	p.Spec.Affinity = a
	if rapid.Bool().Draw(t, "spread") {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: pick(t, keys...), MaxSkew: 1,
			WhenUnsatisfiable: pick(t, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: selectorOf(t)}}
	}
	return p
}

func aCluster(t *rapid.T) (Facts, *corev1.Pod) {
	f := Facts{}
	f.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "d"}}, {ObjectMeta: metav1.ObjectMeta{Name: "e"}}}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: words[i%3] + fmt.Sprint(i), Labels: map[string]string{corev1.LabelHostname: words[i%3]}}}
		for _, k := range []string{"zone", "pool"} {
			if rapid.IntRange(0, 4).Draw(t, "labelled") > 0 {
				n.Labels[k] = pick(t, words...)
			}
		}
		if rapid.IntRange(0, 2).Draw(t, "tainted") == 0 {
			n.Spec.Taints = []corev1.Taint{{Key: pick(t, words...), Effect: pick(t, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)}}
		}
		n.Spec.Unschedulable = rapid.IntRange(0, 4).Draw(t, "cordoned") == 0
		n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("6"), "pods": *resource.NewQuantity(int64(rapid.IntRange(1, 5).Draw(t, "pods")), resource.DecimalSI)}
		f.Nodes = append(f.Nodes, n)
	}
	f.Pods = []*corev1.Pod{}
	for i := range rapid.IntRange(0, 5).Draw(t, "others") {
		p := aPod(t, fmt.Sprint("p", i))
		p.Spec.NodeName = f.Nodes[rapid.IntRange(0, len(f.Nodes)-1).Draw(t, "on")].Name
		p.Status.Phase = corev1.PodRunning
		f.Pods = append(f.Pods, p)
	}
	p := aPod(t, "asked")
	if rapid.Bool().Draw(t, "runs") {
		p.Spec.NodeName, p.Status.Phase = f.Nodes[0].Name, corev1.PodRunning
	}
	f.Pods = append(f.Pods, p)
	return f, p
}

// Each reason of each verdict belongs to a constraint that is hard and registered; soft ones are to blame for
// nothing.
func TestEachReasonHasItsConstraint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := aCluster(t)
		c := New(f)
		verdicts := c.snapshot.Explain(p)
		rules := c.rules(p, verdicts)
		for _, v := range verdicts {
			for _, r := range v.Reasons {
				i := slices.IndexFunc(rules, func(known rule) bool { return known.blames != nil && known.blames(r) })
				if i < 0 {
					t.Fatalf("nobody is to blame for %q on %s: %+v", r, v.Node, rules)
				}
				if rules[i].Hardness != reason.Hard {
					t.Errorf("%s is soft, and to blame for %q", rules[i].Code, r)
				}
			}
		}
		for _, r := range rules {
			if _, ok := reason.ConstraintOf(r.Code); !ok {
				t.Errorf("%s is not registered", r.Code)
			}
		}
	})
}

// What is said to open opens: of a pod without the rule, and replicas without it, the nodes that are named are
// those that come to fit. Nodes that fit already are not among them; pairs come only if no single rule opens
// any.
func TestUnlocksOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := aCluster(t)
		c := New(f)
		r, ok := c.Workload(Ref{kindPod, p.Namespace, p.Name})
		if !ok {
			t.Fatal("it is not there")
		}
		fits := map[string]bool{}
		for _, n := range r.Nodes {
			fits[n.Name] = len(n.Reasons) == 0
		}
		singles, most := 0, 1<<30
		for _, u := range r.Unlocks {
			if len(u.Without) == 1 {
				singles++
			}
			if len(u.Nodes) == 0 || len(u.Nodes) > most {
				t.Errorf("not the largest first, or none: %+v", r.Unlocks)
			}
			most = len(u.Nodes)
			for _, n := range u.Nodes {
				if fits[n] {
					t.Errorf("%s is said to open, and fits already", n)
				}
			}
		}
		if singles != 0 && singles != len(r.Unlocks) {
			t.Errorf("pairs beside single ones: %+v", r.Unlocks)
		}
	})
}

// Asked twice, the answer is the same, and no fact has changed.
func TestSameAnswerAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, p := aCluster(t)
		before := text(f.Objects)
		answers := func() string {
			c := New(f)
			r, _ := c.Workload(c.WorkloadOf(p))
			n, _ := c.Node(f.Nodes[0].Name)
			classes := c.Classes(labels.Everything())
			held := make([]*Held, len(classes))
			for i := range classes {
				held[i] = c.Place(classes[i])
			}
			return text(r) + text(n) + text(c.Fleet(labels.Everything(), classes, held)) + text(c.Pending(""))
		}
		if a, b := answers(), answers(); a != b {
			t.Errorf("not the same:\n%s\n%s", a, b)
		}
		if text(f.Objects) != before {
			t.Error("a fact was written to")
		}
	})
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A node that the fleet's view calls free of rules has pods each of which the node's own view gives a place.
func TestFleetAgreesWithNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, _ := aCluster(t)
		c := New(f)
		classes := c.Classes(labels.Everything())
		held := make([]*Held, len(classes))
		for i := range classes {
			held[i] = c.Place(classes[i])
		}
		fleet := c.Fleet(labels.Everything(), classes, held)
		for _, n := range fleet.Nodes {
			r, _ := c.Node(n.Name)
			free := true
			for _, p := range r.Pods {
				if !p.Stays && p.Elsewhere == 0 {
					free = false
				}
				for _, i := range p.HeldBy {
					if r.Constraints[i].Hardness == reason.Hard {
						free = false
					}
				}
			}
			if got := len(n.HeldBy) == 0 && !n.NoRoom; got && !free {
				t.Errorf("%s is free in the fleet, and not by itself: %+v", n.Name, r.Pods)
			}
		}
	})
}

// The smallest sets: without the rules of all steps up to one, each of its nodes has no rule left.
func TestJointUnlocksHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &fleet{Fleet: &Fleet{}}
		for i := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			n := FleetNode{Machine: Machine{Name: fmt.Sprintf("n%02d", i)}, NoRoom: rapid.IntRange(0, 5).Draw(t, "full") == 0}
			for r := range 6 {
				if rapid.IntRange(0, 2).Draw(t, "held") == 0 {
					n.HeldBy = append(n.HeldBy, r)
				}
			}
			f.Nodes = append(f.Nodes, n)
		}
		f.joint()
		gone, last := map[int]bool{}, 0
		for _, step := range f.JointUnlock {
			for _, r := range step.Add {
				if gone[r] {
					t.Errorf("rule %d goes twice", r)
				}
				gone[r] = true
			}
			want := []string{}
			for _, n := range f.Nodes {
				if len(n.HeldBy) > 0 && !n.NoRoom && len(missing(n.HeldBy, gone)) == 0 {
					want = append(want, n.Name)
				}
			}
			if !slices.Equal(step.Nodes, want) || step.Rules != len(gone) || len(want) <= last {
				t.Errorf("without %v: %v, want %v", gone, step, want)
			}
			last = len(want)
		}
	})
}

// What gains most nodes for each rule goes first, and what has become cheap by that goes next.
func TestJointUnlocksAreCheap(t *testing.T) {
	f := &fleet{Fleet: &Fleet{}}
	for _, n := range []struct {
		name string
		by   []int
	}{{"a", []int{1, 2, 3}}, {"b", []int{0, 1}}, {"c", []int{0, 1}}, {"d", []int{0, 1}}, {"e", []int{2}}, {"f", []int{0, 1, 4}}} {
		f.Nodes = append(f.Nodes, FleetNode{Machine: Machine{Name: n.name}, HeldBy: n.by})
	}
	f.joint()
	var got []string
	for _, step := range f.JointUnlock {
		got = append(got, fmt.Sprint(step.Add, step.Nodes))
	}
	want := []string{"[0 1] [b c d]", "[2] [b c d e]", "[3] [a b c d e]", "[4] [a b c d e f]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
