package reduce_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/observer/reduce"
)

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func ownedBy(kind, name string) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{APIVersion: "acme.example/v1", Kind: kind, Name: name, UID: "u", Controller: &yes}}
}

// Facts in which pods of one record differ are the oldest's, by creation time and then UID.
func TestOldestCounts(t *testing.T) {
	made := func(uid string, at int64, image string) *corev1.Pod {
		p := &corev1.Pod{}
		p.UID, p.CreationTimestamp = types.UID(uid), metav1.Unix(at, 0)
		p.OwnerReferences = ownedBy("Thing", "t")
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: image}}
		return p
	}
	for _, c := range []struct {
		pods []*corev1.Pod
		want string
	}{
		{[]*corev1.Pod{made("a", 2, "new"), made("b", 1, "old")}, "old"},
		{[]*corev1.Pod{made("b", 1, "second"), made("a", 1, "first")}, "first"},
	} {
		for r := range reduce.Look(ofPods(c.pods...), reduce.Options{}).EachRecord() {
			if r.Image != c.want || r.Pod.Replicas != 2 {
				t.Errorf("image %s of %d, want %s", r.Image, r.Pod.Replicas, c.want)
			}
		}
	}
}

// A ring of owners ends.
func TestOwnersInARing(t *testing.T) {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Name: "c"}}
	p.OwnerReferences = ownedBy("Job", "j")
	c := ofPods(p)
	c.Owner = func(string) *reduce.Object {
		return reduce.OfObject("Job", &metav1.ObjectMeta{Name: "j", OwnerReferences: ownedBy("Job", "j")})
	}
	if v := reduce.Look(c, reduce.Options{}); v.Records != 1 {
		t.Errorf("%+v", v.Counts)
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		filter reduce.Filter
		name   string
		want   bool
	}{
		{reduce.Filter{}, "a", true},
		{reduce.Filter{Allow: []string{"a"}}, "a", true},
		{reduce.Filter{Allow: []string{"a"}}, "ab", false},
		{reduce.Filter{Allow: []string{"team-*"}}, "team-a", true},
		{reduce.Filter{Allow: []string{"team-*"}}, "a-team-a", false},
		{reduce.Filter{Allow: []string{"*-prod"}}, "a-prod", true},
		{reduce.Filter{Allow: []string{"*a*b*"}}, "xxaxbx", true},
		{reduce.Filter{Allow: []string{"*a*b*"}}, "xxbxax", false},
		{reduce.Filter{Allow: []string{"a*a"}}, "a", false},
		{reduce.Filter{Allow: []string{"*"}, Deny: []string{"kube-*"}}, "kube-system", false},
		{reduce.Filter{Allow: []string{"kube-system"}, Deny: []string{"kube-*"}}, "kube-system", false},
		{reduce.Filter{Deny: []string{"*"}}, "a", false},
	} {
		if got := c.filter.Allows(c.name); got != c.want {
			t.Errorf("%+v allows %s: %v", c.filter, c.name, got)
		}
	}
}
