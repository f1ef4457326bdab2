package wire

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// protobuf gives the serializer that trims, and one that does not.
func protobuf(t testing.TB) (trims, plain runtime.Serializer) {
	t.Helper()
	c := Codecs()
	for i, info := range c.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeProtobuf {
			return info.Serializer, c.(codecs).NegotiatedSerializer.SupportedMediaTypes()[i].Serializer
		}
	}
	t.Fatal("no protobuf")
	return nil, nil
}

func encode(t testing.TB, o runtime.Object) []byte {
	t.Helper()
	_, plain := protobuf(t)
	var b bytes.Buffer
	if err := plain.Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t testing.TB, data []byte) runtime.Object {
	t.Helper()
	trims, _ := protobuf(t)
	o, _, err := trims.Decode(data, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func pod() (*corev1.Pod, *observertest.Marks) {
	p := &corev1.Pod{}
	m := observertest.Fill(p)
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	return p, m
}

// A pod in which every field is filled gives the same facts, trimmed or not; what was trimmed is not there.
func TestPod(t *testing.T) {
	p, marks := pod()
	trimmed := decode(t, encode(t, p)).(*corev1.Pod)
	if got, want := reduce.OfPod(trimmed, reduce.Bounds{}), reduce.OfPod(p, reduce.Bounds{}); !reflect.DeepEqual(got, want) {
		t.Errorf("trimmed:\n%+v\nwhole:\n%+v", got, want)
	}
	data, err := trimmed.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range marks.Found(data) {
		for _, never := range []string{".env", ".command", ".args", "spec.volumes", ".lifecycle", "Probe", "managedFields", "ephemeral", ".workingDir", ".securityContext"} {
			if strings.Contains(path, never) {
				t.Errorf("%s is decoded", path)
			}
		}
	}
	if whole := encode(t, p); len(data) > len(whole)/3 {
		t.Errorf("%d bytes of %d are left", len(data), len(whole))
	}
}

// Closed sets of words take other values than marks.
func TestPodOfAFleet(t *testing.T) {
	pods, _ := observertest.NewFleet(500, 10).Pods(10)
	for _, p := range pods {
		p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		trimmed := decode(t, encode(t, p)).(*corev1.Pod)
		if !reflect.DeepEqual(reduce.OfPod(trimmed, reduce.Bounds{}), reduce.OfPod(p, reduce.Bounds{})) {
			t.Fatalf("%s", p.Name)
		}
	}
}

func TestNode(t *testing.T) {
	n := &corev1.Node{}
	observertest.Fill(n)
	n.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	n.Status.Conditions[0].Type, n.Status.Conditions[0].Status = corev1.NodeReady, corev1.ConditionTrue
	trimmed := decode(t, encode(t, n)).(*corev1.Node)
	if got, want := reduce.OfNode(trimmed, reduce.Bounds{}), reduce.OfNode(n, reduce.Bounds{}); !reflect.DeepEqual(got, want) {
		t.Errorf("trimmed:\n%+v\nwhole:\n%+v", got, want)
	}
	if len(trimmed.Status.Images) != 0 || len(trimmed.ManagedFields) != 0 {
		t.Errorf("%+v", trimmed)
	}
}

// A list is its items trimmed, and keeps what pages need.
func TestList(t *testing.T) {
	p, _ := pod()
	l := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "c"}, Items: []corev1.Pod{*p, *p}}
	trimmed := decode(t, encode(t, l)).(*corev1.PodList)
	if len(trimmed.Items) != 2 || trimmed.ResourceVersion != "7" || trimmed.Continue != "c" || len(trimmed.Items[1].Spec.Volumes) != 0 || trimmed.Items[1].Spec.Containers[0].Image != p.Spec.Containers[0].Image {
		t.Errorf("%+v", trimmed)
	}
}

// What is no pod and no node is decoded as it is: a refusal has its message.
func TestOthers(t *testing.T) {
	s := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Message: "no", Reason: metav1.StatusReasonForbidden}
	if got := decode(t, encode(t, s)).(*metav1.Status); got.Message != "no" || got.Reason != metav1.StatusReasonForbidden {
		t.Errorf("%+v", got)
	}
}

// No bytes make it panic, and none are kept that were not sent.
func FuzzTrim(f *testing.F) {
	p, _ := pod()
	f.Add(encode(f, p)[4:])
	f.Add([]byte{8, 1, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		kindOf(data)
		for _, m := range envelopes {
			trimmed, err := m.trim(nil, slices.Clone(data))
			if err == nil && len(trimmed) > len(data)+64 { // lengths may be written longer than they have to be, and shorter
				t.Errorf("%d bytes of %d", len(trimmed), len(data))
			}
		}
	})
}
