package scenario

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/berthdev/berth/internal/ident"
)

// What others do in the cluster while a run is under way.

// create creates the objects of a file in the script's namespace: create FILE.
func create(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	docs := yaml.NewYAMLOrJSONDecoder(strings.NewReader(strings.ReplaceAll(s.ReadFile(args[0]), "$NS", st.namespace)), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := docs.Decode(&o.Object); errors.Is(err, io.EOF) {
			return
		} else {
			s.Check(err)
		}
		client, err := st.resource(o.GroupVersionKind().Group, o.GetKind())
		s.Check(err)
		ctx, cancel := st.context()
		_, err = client.Create(ctx, o, metav1.CreateOptions{})
		cancel()
		s.Check(err)
	}
}

// admission waits until the API server has taken up what it does to pods, which it promises only in the end: admission
// TEXT, which is in the pod that would be stored, or in the refusal.
func admission(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	ctx, cancel := st.context()
	defer cancel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "asks", Labels: map[string]string{"berth.dev/instance": "none"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}}
	for ctx.Err() == nil {
		stored, err := st.cluster.Client.CoreV1().Pods(st.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		said := fmt.Sprint(stored, err)
		if strings.Contains(said, args[0]) {
			return
		}
	}
	s.Fatalf("admission never says %s", args[0])
}

// patch merges JSON into an object: patch KIND NAME JSON.
func patch(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	client, err := st.resource("", args[0])
	s.Check(err)
	ctx, cancel := st.context()
	defer cancel()
	_, err = client.Patch(ctx, args[1], types.MergePatchType, []byte(args[2]), metav1.PatchOptions{})
	s.Check(err)
}

// deleteObject deletes an object: delete KIND NAME.
func deleteObject(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	client, err := st.resource("", args[0])
	s.Check(err)
	ctx, cancel := st.context()
	defer cancel()
	s.Check(client.Delete(ctx, args[1], metav1.DeleteOptions{}))
}

// patchPod merges JSON into a step's pod: patch-pod STEP JSON.
func patchPod(s *testscript.TestScript, neg bool, args []string) {
	pod, err := stageOf(s).pod(args[0])
	s.Check(err)
	patch(s, neg, []string{"Pod", pod.Name, args[1]})
}

// bind gives a step's pod to a node, as a scheduler does: bind STEP NODE.
func bind(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	ctx, cancel := st.context()
	defer cancel()
	pod, err := st.pod(args[0])
	s.Check(err)
	s.Check(st.cluster.Client.CoreV1().Pods(st.namespace).Bind(ctx, &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name},
		Target: corev1.ObjectReference{Kind: "Node", Name: args[1]}}, metav1.CreateOptions{}))
}

// squat creates a pod that has the name of a step's first attempt and is none of Berth's: squat STEP.
func squat(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	r, err := shown(s.MkAbs("state"))
	s.Check(err)
	ctx, cancel := st.context()
	defer cancel()
	_, err = st.cluster.Client.CoreV1().Pods(st.namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: ident.PodName(args[0], r.ID, 1)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox:1.37", Command: []string{"sleep", "600"}}}}}, metav1.CreateOptions{})
	s.Check(err)
}

// evict asks for the eviction of a step's pod, as a drain does: evict STEP.
func evict(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	ctx, cancel := st.context()
	defer cancel()
	pod, err := st.pod(args[0])
	s.Check(err)
	s.Check(st.cluster.Client.PolicyV1().Evictions(st.namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: st.namespace}}))
}

// remove deletes a step's pod: remove STEP [GRACE].
func remove(s *testscript.TestScript, _ bool, args []string) {
	st := stageOf(s)
	ctx, cancel := st.context()
	defer cancel()
	pod, err := st.pod(args[0])
	s.Check(err)
	var o metav1.DeleteOptions
	if len(args) > 1 {
		grace, err := strconv.ParseInt(args[1], 10, 64)
		s.Check(err)
		o.GracePeriodSeconds = &grace
	}
	s.Check(st.cluster.Client.CoreV1().Pods(st.namespace).Delete(ctx, pod.Name, o))
}

// pod is the newest pod of a step.
func (s *stage) pod(step string) (*corev1.Pod, error) {
	ctx, cancel := s.context()
	defer cancel()
	pods, err := s.cluster.Client.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: "berth.dev/step=" + step})
	if err != nil {
		return nil, err
	}
	var newest *corev1.Pod
	for i := range pods.Items {
		if p := &pods.Items[i]; newest == nil || newest.CreationTimestamp.Before(&p.CreationTimestamp) {
			newest = p
		}
	}
	if newest == nil {
		return nil, errors.New("step " + step + " has no pod")
	}
	return newest, nil
}

// resource is a client of one kind, in the script's namespace if it has namespaces. Without a group it is found as kubectl
// finds it.
func (s *stage) resource(group, kind string) (dynamic.ResourceInterface, error) {
	groups, err := restmapper.GetAPIGroupResources(s.cluster.Client.Discovery())
	if err != nil {
		return nil, err
	}
	kinds := restmapper.NewDiscoveryRESTMapper(groups)
	of, err := kinds.KindFor(schema.GroupVersionResource{Group: group, Resource: strings.ToLower(kind)})
	if err != nil {
		return nil, err
	}
	found, err := kinds.RESTMapping(of.GroupKind(), of.Version)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(s.cluster.Config)
	if err != nil {
		return nil, err
	}
	if found.Scope.Name() == meta.RESTScopeNameNamespace {
		return client.Resource(found.Resource).Namespace(s.namespace), nil
	}
	return client.Resource(found.Resource), nil
}

// fault breaks a part of the cluster, or mends it: fault KIND PART [FLAG...].
func fault(s *testscript.TestScript, _ bool, args []string) {
	s.Check(stageOf(s).cluster.Fault(args...))
}

// left looks for what a run has left.
func (s *stage) left(kept bool) error {
	ctx, cancel := s.context()
	defer cancel()
	ours := metav1.ListOptions{LabelSelector: "berth.dev/run"}
	pods, err := s.cluster.Client.CoreV1().Pods(s.namespace).List(ctx, ours)
	if err != nil {
		return err
	}
	claims, err := s.cluster.Client.CoreV1().PersistentVolumeClaims(s.namespace).List(ctx, ours)
	if err != nil {
		return err
	}
	for _, c := range claims.Items {
		if c.DeletionTimestamp == nil && !kept {
			return fmt.Errorf("the claim %s is left", c.Name)
		}
	}
	if n := len(pods.Items); n > 0 != kept {
		return fmt.Errorf("%d pods are left", n)
	}
	return nil
}
