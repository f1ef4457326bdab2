package reduce_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// reduced are the types that decide where a pod may run and what it asks for. Every field of each of them is either
// reduced, which is seen by changing it, or stands here with why it is not read. A field that a new version of
// Kubernetes adds is neither, until somebody decides.
var reduced = []struct {
	typ     reflect.Type
	notRead map[string]string
}{
	{reflect.TypeFor[corev1.PodSpec](), map[string]string{
		"volumes":                      "names Secrets and claims; which zone a claim keeps a pod in takes rights that the observer lacks",
		"ephemeralContainers":          "how people debug, and no part of what was asked for",
		"restartPolicy":                "about the pod's life, not its place",
		"activeDeadlineSeconds":        "about the pod's life, not its place",
		"dnsPolicy":                    "network",
		"dnsConfig":                    "network",
		"hostname":                     "network",
		"subdomain":                    "network",
		"setHostnameAsFQDN":            "network",
		"hostnameOverride":             "network",
		"hostAliases":                  "network",
		"enableServiceLinks":           "environment",
		"serviceAccountName":           "identity",
		"serviceAccount":               "identity",
		"automountServiceAccountToken": "identity",
		"imagePullSecrets":             "names Secrets",
		"hostPID":                      "isolation; keeps no pod from a node",
		"hostIPC":                      "isolation; keeps no pod from a node",
		"hostUsers":                    "isolation; keeps no pod from a node",
		"shareProcessNamespace":        "isolation; keeps no pod from a node",
		"securityContext":              "isolation; keeps no pod from a node",
		"readinessGates":               "about the pod's life, not its place",
		"os":                           "the scheduler does not look at it",
		"schedulingGroup":              "names a group of pods that are scheduled together; no node is ruled out by it",
		"evictionResponders":           "who is asked before an eviction; keeps no pod from a node",
	}},
	{reflect.TypeFor[corev1.Container](), map[string]string{
		"command": "may hold secrets", "args": "may hold secrets", "env": "may hold secrets", "envFrom": "names Secrets",
		"workingDir": "not about place or size", "volumeMounts": "see volumes", "volumeDevices": "see volumes",
		"livenessProbe": "may hold commands", "readinessProbe": "may hold commands", "startupProbe": "may hold commands",
		"lifecycle": "may hold commands", "resizePolicy": "how resources change, not what they are",
		"restartPolicyRules": "about the container's life", "terminationMessagePath": "not about place or size",
		"terminationMessagePolicy": "not about place or size", "imagePullPolicy": "not about place or size",
		"securityContext": "isolation", "stdin": "not about place or size", "stdinOnce": "not about place or size", "tty": "not about place or size",
	}},
	{reflect.TypeFor[corev1.ContainerPort](), nil},
	{reflect.TypeFor[corev1.ResourceRequirements](), map[string]string{"claims": "names of the pod's claims, which are counted"}},
	{reflect.TypeFor[corev1.Affinity](), nil},
	{reflect.TypeFor[corev1.NodeAffinity](), nil},
	{reflect.TypeFor[corev1.NodeSelector](), nil},
	{reflect.TypeFor[corev1.NodeSelectorTerm](), nil},
	{reflect.TypeFor[corev1.NodeSelectorRequirement](), nil},
	{reflect.TypeFor[corev1.PreferredSchedulingTerm](), nil},
	{reflect.TypeFor[corev1.PodAffinity](), nil},
	{reflect.TypeFor[corev1.PodAntiAffinity](), nil},
	{reflect.TypeFor[corev1.PodAffinityTerm](), nil},
	{reflect.TypeFor[corev1.WeightedPodAffinityTerm](), nil},
	{reflect.TypeFor[corev1.TopologySpreadConstraint](), nil},
	{reflect.TypeFor[metav1.LabelSelector](), nil},
	{reflect.TypeFor[metav1.LabelSelectorRequirement](), nil},
	{reflect.TypeFor[corev1.Toleration](), nil},
	{reflect.TypeFor[corev1.PodSchedulingGate](), nil},
	{reflect.TypeFor[corev1.PodResourceClaim](), map[string]string{
		"name": "claims are counted", "resourceClaimName": "claims are counted", "resourceClaimTemplateName": "claims are counted"}},
	{reflect.TypeFor[corev1.Taint](), map[string]string{"timeAdded": "changes nothing about who may come"}},
	{reflect.TypeFor[corev1.NodeSpec](), map[string]string{
		"podCIDR": "network", "podCIDRs": "network", "providerID": "names the machine to its cloud", "configSource": "deprecated",
		"externalID": "deprecated", "podPreemptionPolicy": "how the node makes room for resizes"}},
	{reflect.TypeFor[corev1.NodeCondition](), map[string]string{
		"lastHeartbeatTime": "changes all the time", "message": "free text"}},
}

// subject is a pod and a node in which everything has a value that counts.
type subject struct {
	Pod  corev1.Pod
	Node corev1.Node
}

func newSubject() *subject {
	s := &subject{}
	observertest.Fill(s)
	p := &s.Pod
	delete(p.Annotations, reduce.AnnotationObserve)
	// Words that only count if they are of a closed set, and selectors that select the pod itself.
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "In", Values: []string{"web"}}}}
	p.Labels = map[string]string{"app": "web", "zq": "zq"}
	never, always := corev1.PreemptNever, corev1.ContainerRestartPolicyAlways
	p.Spec.PreemptionPolicy = &never
	p.Spec.InitContainers[0].RestartPolicy = &always
	p.Spec.Containers[0].RestartPolicy = &always
	ignore, honor := corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		c.LabelSelector, c.MatchLabelKeys, c.NodeAffinityPolicy, c.NodeTaintsPolicy = &metav1.LabelSelector{}, nil, &ignore, &honor
	}
	for _, terms := range [][]corev1.PodAffinityTerm{p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution} {
		for i := range terms {
			terms[i].LabelSelector, terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys = own.DeepCopy(), nil, nil
			terms[i].NamespaceSelector, terms[i].Namespaces = nil, []string{p.Namespace}
		}
	}
	for _, terms := range [][]corev1.WeightedPodAffinityTerm{p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution} {
		for i := range terms {
			a := &terms[i].PodAffinityTerm
			a.LabelSelector, a.MatchLabelKeys, a.MismatchLabelKeys = &metav1.LabelSelector{}, nil, nil // which a key narrows
		}
	}
	s.Node.Status.Conditions[0].Type, s.Node.Status.Conditions[0].Status = corev1.NodeReady, corev1.ConditionTrue
	return s
}

func (s *subject) said(t *testing.T) []byte {
	c := ofPods(&s.Pod)
	c.Nodes = slices.Values([]*reduce.Node{reduce.OfNode(&s.Node, reduce.Bounds{})})
	v := reduce.Look(c, reduce.Options{})
	return slices.Concat(workloads(t, v), nodes(t, v))
}

// A field that is reduced changes what is said when it is emptied, or changed, somewhere; one that is listed
// above never does.
func TestEachFieldIsReducedOrNotReadOnPurpose(t *testing.T) {
	whole := newSubject().said(t)
	seen := map[string]bool{} // fields that changed something
	var of []reflect.Type
	for _, typ := range reduced {
		of = append(of, typ.typ)
	}
	for _, change := range changes(reflect.ValueOf(newSubject()).Elem(), nil) {
		if !slices.Contains(of, change.in) {
			continue
		}
		s := newSubject()
		change.to(reflect.ValueOf(s).Elem())
		if !bytes.Equal(s.said(t), whole) {
			seen[change.field] = true
		}
	}
	for _, typ := range reduced {
		for _, f := range reflect.VisibleFields(typ.typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			field := typ.typ.Name() + "." + name
			why, listed := typ.notRead[name]
			switch {
			case listed && why == "":
				t.Errorf("%s: say why it is not read", field)
			case listed && seen[field]:
				t.Errorf("%s is listed as not read, and is", field)
			case !listed && !seen[field]:
				t.Errorf("%s is neither reduced nor listed as not read", field)
			}
		}
		for name := range typ.notRead {
			if _, ok := fieldNamed(typ.typ, name); !ok {
				t.Errorf("%s has no field %s", typ.typ.Name(), name)
			}
		}
	}
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// change is one field of one struct in a subject, made other than it was.
type change struct {
	in    reflect.Type
	field string // TYPE.KEY
	to    func(subject reflect.Value)
}

// changes lists all fields of all structs below v. steps lead from the subject to v.
func changes(v reflect.Value, steps []func(reflect.Value) reflect.Value) []change {
	var all []change
	down := func(next reflect.Value, step func(reflect.Value) reflect.Value) {
		all = append(all, changes(next, append(slices.Clone(steps), step))...)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			down(v.Elem(), reflect.Value.Elem)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			down(v.Index(0), func(s reflect.Value) reflect.Value { return s.Index(0) })
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			at := func(s reflect.Value) reflect.Value { return s.Field(i) }
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			for _, value := range others(v.Field(i)) {
				all = append(all, change{v.Type(), v.Type().Name() + "." + name, func(s reflect.Value) {
					for _, step := range steps {
						s = step(s)
					}
					at(s).Set(value)
				}})
			}
			down(v.Field(i), at)
		}
	}
	return all
}

// others are values that a field could have instead: none, and another word.
func others(v reflect.Value) []reflect.Value {
	all := []reflect.Value{reflect.Zero(v.Type())}
	if v.Kind() == reflect.String {
		all = append(all, reflect.ValueOf("other").Convert(v.Type()))
	}
	switch v.Interface().(type) {
	case map[string]string:
		all = append(all, reflect.ValueOf(map[string]string{"app": "other"}))
	case []metav1.LabelSelectorRequirement:
		all = append(all, reflect.ValueOf([]metav1.LabelSelectorRequirement{{Key: "app", Operator: "DoesNotExist"}}))
	}
	if v.Kind() == reflect.Slice && v.Type() == reflect.TypeFor[[]string]() {
		all = append(all, reflect.ValueOf([]string{"zq"}))
	}
	return all
}
