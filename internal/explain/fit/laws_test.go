package fit

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"pgregory.net/rapid"
)

// Few words, so that pods and nodes often meet, and some that are hostile: what an API server would
// refuse must still get a verdict here, since pods and nodes may come from files.
var (
	keys      = []string{"a", "b", "c", "Not a key!", ""}
	values    = []string{"", "1", "2", "02", "-3", "x", "y", "no value!", "99999999999999999999"}
	effects   = []corev1.TaintEffect{"NoSchedule", "NoExecute", "PreferNoSchedule"}
	cordons   = []string{"a", "b", corev1.TaintNodeUnschedulable}
	nodeNames = []string{"", "n1", "n2"}
)

func some[T any](t *rapid.T, label string, most int, gen func(*rapid.T) T) []T {
	var list []T
	for range rapid.IntRange(0, most).Draw(t, label) {
		list = append(list, gen(t))
	}
	return list
}

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func someLabels(t *rapid.T) map[string]string {
	m := map[string]string{}
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		m[pick(t, "key", keys...)] = pick(t, "value", values...)
	}
	return m
}

func taint(t *rapid.T) corev1.Taint {
	return corev1.Taint{Key: pick(t, "taint", cordons...), Value: pick(t, "value", values...), Effect: pick(t, "effect", effects...)}
}

func toleration(t *rapid.T) corev1.Toleration {
	return corev1.Toleration{Key: pick(t, "toleration", append([]string{""}, cordons...)...), Value: pick(t, "value", values...),
		Operator: pick(t, "operator", corev1.TolerationOpEqual, "", corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt, "Like"),
		Effect:   pick(t, "effect", append([]corev1.TaintEffect{""}, effects...)...)}
}

func expression(t *rapid.T) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: pick(t, "key", keys...), Values: some(t, "values", 2, func(t *rapid.T) string { return pick(t, "value", values...) }),
		Operator: pick(t, "operator", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
			corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, "Like")}
}

func aField(t *rapid.T) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: pick(t, "field", "metadata.name", "metadata.name", "spec.x"), Operator: pick(t, "operator", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, "Gt"),
		Values: some(t, "names", 2, func(t *rapid.T) string { return pick(t, "name", nodeNames...) })}
}

func term(t *rapid.T) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: some(t, "expressions", 2, expression), MatchFields: some(t, "fields", 1, aField)}
}

func aPod(t *rapid.T) *corev1.PodSpec {
	p := &corev1.PodSpec{Tolerations: some(t, "tolerations", 3, toleration)}
	if rapid.Bool().Draw(t, "selects") {
		p.NodeSelector = someLabels(t)
	}
	if rapid.Bool().Draw(t, "affinity") {
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		if rapid.Bool().Draw(t, "required") {
			p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: some(t, "terms", 3, term)}
		}
	}
	return p
}

func aNode(t *rapid.T) *corev1.Node {
	n := &corev1.Node{Spec: corev1.NodeSpec{Taints: some(t, "taints", 3, taint), Unschedulable: rapid.Bool().Draw(t, "cordoned")}}
	n.Name, n.Labels = pick(t, "node", nodeNames...), someLabels(t)
	return n
}

func count(reasons []Reason, kinds ...Kind) int {
	n := 0
	for _, r := range reasons {
		if slices.Contains(kinds, r.Kind) {
			n++
		}
	}
	return n
}

// The verdict is that of the functions that the scheduler calls.
func TestVerdictIsTheSchedulers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := aPod(t), aNode(t)
		pBefore, nBefore := p.DeepCopy(), n.DeepCopy()
		reasons := Node(p, n)

		// As the scheduler's plugins NodeUnschedulable and TaintToleration.
		cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
		allowed := !n.Spec.Unschedulable || schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, p.Tolerations, &cordon, true)
		_, untolerated := schedulinghelpers.FindMatchingUntoleratedTaint(klog.Logger{}, n.Spec.Taints, p.Tolerations, func(t *corev1.Taint) bool {
			return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
		}, true)
		if got, want := count(reasons, Cordoned, Taint) == 0, allowed && !untolerated; got != want {
			t.Errorf("taints let it in: %v, want %v: %v", got, want, reasons)
		}
		// As NodeAffinity, which ignores errors.
		want, _ := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *p}).Match(n)
		if got := count(reasons, NodeSelector, NodeAffinity, Contradiction, NodeName) == 0; got != want {
			t.Errorf("labels let it in: %v, want %v: %v", got, want, reasons)
		}

		if !equality.Semantic.DeepEqual(p, pBefore) || !equality.Semantic.DeepEqual(n, nBefore) {
			t.Error("an argument was written to")
		}
	})
}

// All reasons are given: taking away what one of them names takes away this one and no other, and
// once all are gone the pod fits.
func TestReasonsAreAllAndApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := aPod(t), aNode(t)
		for left := Node(p, n); len(left) > 0; {
			r := rapid.SampledFrom(left).Draw(t, "reason")
			switch r.Kind {
			case Cordoned:
				n.Spec.Unschedulable = false
				cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t == cordon })
			case Taint:
				i := slices.Index(n.Spec.Taints, *r.Taint)
				n.Spec.Taints = slices.Delete(n.Spec.Taints, i, i+1)
			case NodeSelector:
				delete(p.NodeSelector, r.Label.Key)
			case NodeAffinity, Contradiction, NodeName:
				p.Affinity = nil
			default:
				t.Fatalf("unexpected reason: %s", r)
			}
			now := Node(p, n)
			if len(now) != len(left)-1 {
				t.Fatalf("without %q: %v, before: %v", r, now, left)
			}
			left = now
		}
	})
}
