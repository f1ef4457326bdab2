package fit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/transcript"
)

// someCluster is a cluster as the differential test has them, with its storage, and a pod that asks.
func someCluster(t *rapid.T, storage Objects) (Objects, *corev1.Pod) {
	d := newDice(rapid.Uint64().Draw(t, "seed"), 0)
	d.mood = mood(d.IntN(int(moods)))
	o := storage
	o.Nodes, o.Pods = d.nodes(), []*corev1.Pod{}
	for _, n := range []struct{ name, team string }{{"shop", "one"}, {"data", "two"}, {"infra", ""}} {
		ns := &corev1.Namespace{}
		ns.Name, ns.Labels = n.name, map[string]string{"team": n.team}
		o.Namespaces = append(o.Namespaces, ns)
	}
	for i := range d.IntN(15) {
		p := d.pod(fmt.Sprintf("old-%d", i))
		p.UID = types.UID(p.Name)
		p.Spec.NodeName = of(d, "n0", "n1", "n2", "n3", "gone", "")
		p.Status.Phase = of(d, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded)
		if p.Spec.NodeName == "" && d.one(2) {
			p.Status.NominatedNodeName = "n1"
		}
		o.Pods = append(o.Pods, p)
	}
	return o, d.pod("asks")
}

func storageOfTest(t *testing.T) Objects {
	text, err := os.ReadFile("testdata/storage.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, sections := transcript.Sections(string(text))
	return sceneOf(t, append(sections, transcript.Section{Name: "pod", Body: "{}"})).Objects
}

func equal(t *rapid.T, what string, got, want []Verdict) {
	if g, w := show(got), show(want); g != w {
		t.Fatalf("%s: got\n%s\nwant\n%s", what, g, w)
	}
}

// Without pods is as if they had never been there.
func TestWithout(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		var gone []types.NamespacedName
		rest := o
		rest.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool {
			goes := rapid.Bool().Draw(t, "goes")
			if goes {
				gone = append(gone, types.NamespacedName{Namespace: p.Namespace, Name: p.Name})
			}
			return goes
		})
		whole := NewSnapshot(o)
		before := show(whole.Explain(pod))
		equal(t, "without", whole.Without(gone...).Explain(pod), NewSnapshot(rest).Explain(pod))
		if after := show(whole.Explain(pod)); after != before {
			t.Fatalf("the snapshot has changed: got\n%s\nwant\n%s", after, before)
		}
	})
}

// With a pod on a node is as if it had been there all the time, and nowhere else.
func TestWith(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		if len(o.Pods) == 0 {
			return
		}
		i := rapid.IntRange(0, len(o.Pods)-1).Draw(t, "pod")
		node := rapid.SampledFrom([]string{"n0", "n1", "n4", "nowhere"}).Draw(t, "node")
		moved := o.Pods[i].DeepCopy()
		moved.Spec.NodeName, moved.Status = node, corev1.PodStatus{}
		there := o
		there.Pods = slices.Clone(o.Pods)
		there.Pods[i] = moved
		equal(t, "with", sorted(NewSnapshot(o).With(o.Pods[i], node).Explain(pod)), sorted(NewSnapshot(there).Explain(pod)))
	})
}

// sorted leaves out which of several pods is named first: that is the one which was there first.
func sorted(verdicts []Verdict) []Verdict {
	for i := range verdicts {
		for j := range verdicts[i].Reasons {
			if r := &verdicts[i].Reasons[j]; r.Other != nil && r.Other.Kind == "Pod" {
				r.Other = &Ref{Kind: "Pod"}
			}
		}
	}
	return verdicts
}

// A pod that is bound asks as if it were not: it is in nobody's way, its own least of all.
func TestBoundPodsAskAsIfTheyWereNot(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		pod.Namespace, pod.UID = "shop", "asks"
		want := NewSnapshot(o).Explain(pod)
		bound := pod.DeepCopy()
		bound.Spec.NodeName, bound.Status.Phase = "n0", corev1.PodRunning
		o.Pods = append(slices.Clone(o.Pods), bound)
		s := NewSnapshot(o)
		equal(t, "bound", s.Explain(bound), want)
		again := pod.DeepCopy()
		again.UID = "" // the same by name
		equal(t, "by name", s.Explain(again), want)
	})
}

// What the verdicts are does not depend on the order of the objects.
func TestOrderOfObjects(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		want := NewSnapshot(o).Explain(pod)
		o.Nodes, o.Pods, o.Volumes, o.Namespaces = turned(o.Nodes), turned(o.Pods), turned(o.Volumes), turned(o.Namespaces)
		equal(t, "turned round", NewSnapshot(o).Explain(pod), want)
	})
}

func turned[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// What is not readable lets no pod in that would be refused, without a word, and makes no reasons.
func TestNotReadableIsNeverFree(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		full := NewSnapshot(o).Explain(pod)
		for name, forget := range map[string]func(*Objects){
			"pods": func(o *Objects) { o.Pods = nil }, "namespaces": func(o *Objects) { o.Namespaces = nil }, "claims": func(o *Objects) { o.Claims = nil },
			"volumes": func(o *Objects) { o.Volumes = nil }, "classes": func(o *Objects) { o.Classes = nil }, "CSI nodes": func(o *Objects) { o.CSINodes = nil },
			"CSI drivers": func(o *Objects) { o.CSIDrivers = nil }, "attachments": func(o *Objects) { o.Attachments = nil },
		} {
			less := o
			forget(&less)
			for i, v := range NewSnapshot(less).Explain(pod) {
				if v.Fits() && len(full[i].Reasons) > 0 {
					t.Fatalf("without %s the pod fits %s; with them: %s", name, v.Node, show(full[i:i+1]))
				}
				for _, r := range v.Reasons {
					if !slices.ContainsFunc(full[i].Reasons, func(f Reason) bool { return f.Plugin == r.Plugin && f.Path == r.Path }) {
						t.Fatalf("without %s there is on %s: %s; with them: %s", name, v.Node, r, show(full[i:i+1]))
					}
				}
			}
		}
	})
}

// A tally counts each node that does not fit, and says a reason for each.
func TestCountsCountEachNode(t *testing.T) {
	storage := storageOfTest(t)
	rapid.Check(t, func(t *rapid.T) {
		o, pod := someCluster(t, storage)
		verdicts := NewSnapshot(o).Explain(pod)
		tally, counted := Counts(verdicts), 0
		for _, c := range tally.Counts {
			counted += c.Nodes
			if c.Nodes < 1 || c.Nodes > len(verdicts) || c.Words == "" {
				t.Fatalf("%+v", c)
			}
		}
		if unfit := len(verdicts) - len(fitting(verdicts)); tally.Sentence == "" && counted < unfit {
			t.Fatalf("%d nodes do not fit, and counted are %d: %s", unfit, counted, tally)
		}
		if !strings.HasPrefix(tally.String(), fmt.Sprintf("0/%d nodes are available: ", len(verdicts))) {
			t.Fatal(tally)
		}
	})
}

// The dice are what the seed says.
func TestDiceAreRepeatable(t *testing.T) {
	for seed := range uint64(50) {
		a, b := newDice(seed, 1), newDice(seed, 1)
		a.mood, b.mood = mood(seed)%moods, mood(seed)%moods
		if !equality.Semantic.DeepEqual(a.nodes(), b.nodes()) || !equality.Semantic.DeepEqual(a.pod("p"), b.pod("p")) {
			t.Fatalf("seed %d gives now this, now that", seed)
		}
	}
}
