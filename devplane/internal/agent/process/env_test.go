package process

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func TestResolveEnv(t *testing.T) {
	o := &objects{all: map[string]any{
		"secret/s":    &corev1.Secret{Data: map[string][]byte{"a": []byte("secret a"), "b": []byte("secret b")}},
		"configmap/c": &corev1.ConfigMap{Data: map[string]string{"a": "config a", "k": "config k"}},
	}}
	f := facts{address: "192.0.2.1", server: "192.0.2.9:6443", allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}
	named := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	from := func(s corev1.EnvVarSource) *corev1.EnvVarSource { return &s }
	field := func(path string) *corev1.EnvVarSource {
		return from(corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}})
	}
	yes := ptr.To(true)
	c := corev1.Container{
		Name: "main",
		EnvFrom: []corev1.EnvFromSource{
			{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: named("c")}},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("s")}, Prefix: "S_"},
			{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: named("none"), Optional: yes}},
		},
		Env: []corev1.EnvVar{
			{Name: "k", Value: "overrides"},
			{Name: "REF", Value: "$(S_a) $$(S_a) $(LATER) $(KUBERNETES_SERVICE_PORT)"},
			{Name: "LATER", Value: "x"},
			{Name: "EMPTY"},
			{Name: "NAME", ValueFrom: field("metadata.name")},
			{Name: "LABEL", ValueFrom: field("metadata.labels['app']")},
			{Name: "IP", ValueFrom: field("status.podIP")},
			{Name: "NODE", ValueFrom: field("spec.nodeName")},
			{Name: "REQUEST", ValueFrom: from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.cpu", Divisor: resource.MustParse("1m")}})},
			{Name: "LIMIT", ValueFrom: from(corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}})},
			{Name: "OF_SECRET", ValueFrom: from(corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named("s"), Key: "b"}})},
			{Name: "NO_KEY", ValueFrom: from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("c"), Key: "none", Optional: yes}})},
			{Name: "NO_OBJECT", ValueFrom: from(corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named("none"), Key: "k", Optional: yes}})},
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}},
	}
	got, err := resolveEnv(t.Context(), o, f, newPod(c), &c)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "config a", "k": "overrides", "S_a": "secret a", "S_b": "secret b",
		"REF": "secret a $(S_a) $(LATER) 6443", "LATER": "x", "EMPTY": "",
		"NAME": "pod", "LABEL": "x", "IP": "192.0.2.1", "NODE": "node", "REQUEST": "250", "LIMIT": "8", "OF_SECRET": "secret b",
		"KUBERNETES_SERVICE_HOST": "192.0.2.9", "KUBERNETES_SERVICE_PORT": "6443", "KUBERNETES_SERVICE_PORT_HTTPS": "6443",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	c.EnvFrom[2].SecretRef.Optional = nil
	if _, err := resolveEnv(t.Context(), o, f, newPod(c), &c); err == nil || err.Error() != `secret "none" not found` {
		t.Errorf("a Secret that is missing: %v", err)
	}
}
