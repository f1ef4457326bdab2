package fragment

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// TestWhatKubernetesWrites: a pod spec of the Kubernetes types, written out, has nothing wrong with it
// but what is reserved; and what is passed on is what was written.
func TestWhatKubernetesWrites(t *testing.T) {
	texts := []string{"a", "b", "step", "1.20", "true", "null", "Exists", "Always", "BERTH_X", "berth.dev/x", "x: y", "é\n"}
	rapid.Check(t, func(t *rapid.T) {
		var spec corev1.PodSpec
		filler{t, func() string { return rapid.SampledFrom(texts).Draw(t, "text") },
			func() int64 { return rapid.SampledFrom([]int64{0, -1, 8080, 1<<31 - 1}).Draw(t, "int") },
		}.fill(reflect.ValueOf(&spec).Elem(), 1)
		n, text := writeOut(t, spec)
		f, list := Read(n, Rules{Layer: placement.Overlay})
		for _, found := range list.All() {
			if found.Code != finding.ReservedField && found.Code != finding.ToleratesEverything {
				t.Fatalf("%v\n%s", found, text)
			}
		}
		if !list.HasErrors() && !reflect.DeepEqual(f.Value, n.Any()) {
			t.Fatalf("got %v\nof  %s", f.Value, text)
		}
	})
}

// TestOneMistake: one mistake in a pod spec is one error, of Read or of Compose. Where it is none,
// Kubernetes' own strict decoder takes what was composed.
func TestOneMistake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var spec corev1.PodSpec
		names := 0 // none twice, so that no two items have the same key
		filler{t, func() string { names++; return fmt.Sprintf("x%d", names) }, func() int64 { names++; return int64(names) }}.
			fill(reflect.ValueOf(&spec).Elem(), 1)
		spec.NodeName, spec.RestartPolicy, spec.ActiveDeadlineSeconds, spec.EphemeralContainers = "", "", nil, nil
		spec.Priority, spec.SchedulingGates, spec.DeprecatedServiceAccount = nil, nil, ""
		for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
			for i := range containers {
				containers[i].RestartPolicy, containers[i].RestartPolicyRules = nil, nil
			}
		}
		n, _ := writeOut(t, spec)
		rules := Rules{Layer: rapid.SampledFrom([]placement.Kind{placement.Baseline, placement.Overlay}).Draw(t, "layer")}
		if _, list, _ := all(n, rules); list.HasErrors() {
			t.Skip("a mistake by chance")
		}
		mistaken := n.Any().(map[string]any)
		what := mistake(t, mistaken)
		n, text := writeOut(t, mistaken)
		pod, list, _ := all(n, rules)
		errors := 0
		for _, found := range list.All() {
			if found.Severity == finding.Error {
				errors++
			}
		}
		if errors > 1 {
			t.Fatalf("%s: %s\n%s", what, list.Text(nil), text)
		}
		if errors > 0 || rules.operators() {
			return
		}
		if err := decode(pod); err != nil {
			t.Fatalf("Kubernetes does not take it: %v\n%s", err, text)
		}
	})
}

// all reads a fragment and composes it onto a pod.
func all(n *source.Node, rules Rules) (map[string]any, finding.List, Fragment) {
	f, list := Read(n, rules)
	result := compose(f, rules)
	list.Join(result.Findings)
	return result.Fragment, list, f
}

// decode is how the API server reads a pod, with strict field validation.
func decode(pod map[string]any) error {
	pod = maps.Clone(pod)
	delete(pod, "labels")
	delete(pod, "annotations")
	var spec corev1.PodSpec
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(pod, &spec, true)
}

// FuzzRead: no text makes Read or Compose panic, no mistake makes the rest of a pod another, and what
// has no error is what Kubernetes' own strict decoder takes.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i, section := range strings.Split(string(data), "\n-- ") {
			if _, body, ok := strings.Cut(section, " --\n"); ok && i > 0 {
				for _, layer := range []placement.Kind{placement.Baseline, placement.Overlay} {
					f.Add(body, uint8(layer), false, false)
				}
			}
		}
	}
	f.Add("a: &a [1]\ncontainers: [{name: step, env: *a}]", uint8(placement.Overlay), true, true)
	f.Fuzz(func(t *testing.T, text string, layer uint8, privileged, expressions bool) {
		rules := Rules{Layer: []placement.Kind{placement.Baseline, placement.Profile, placement.Overlay}[layer%3], Privileged: privileged, Expressions: expressions}
		n, parsed := source.Parse("f.yaml", []byte(text))
		if n == nil {
			return
		}
		pod, list, got := all(n, rules)
		if why := unclean(got.Value); why != "" {
			t.Fatal(why)
		}
		_, own := Read(n, rules)
		for _, found := range own.All() {
			if found.Line == 0 || found.Message == "" || found.Code.Title() == "" {
				t.Fatalf("an incomplete finding: %+v", found)
			}
		}
		if parsed.HasErrors() || list.HasErrors() {
			return
		}
		if why := falls(pod); why != "" {
			t.Fatal(why)
		}
		if rules.Expressions || rules.operators() || rules.Privileged {
			return
		}
		if err := decode(pod); err != nil {
			t.Fatalf("Kubernetes does not take it: %v", err)
		}
	})
}

// unclean names a value that package placement does not have, or JSON.
func unclean(v any) string {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return ""
	case float64:
		if v != v || v-v != 0 {
			return fmt.Sprintf("JSON has no %v", v)
		}
		return ""
	case []any:
		for _, e := range v {
			if why := unclean(e); why != "" {
				return why
			}
		}
		return ""
	case map[string]any:
		for _, e := range v {
			if why := unclean(e); why != "" {
				return why
			}
		}
		return ""
	default:
		return fmt.Sprintf("a value of type %T", v)
	}
}

func BenchmarkRead(b *testing.B) {
	n, _ := source.Parse("f.yaml", []byte(`
tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]
nodeSelector: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}
containers: [{name: step, resources: {limits: {cpu: "2", memory: 4Gi}}, env: [{name: A, value: b}], volumeMounts: [{name: v, mountPath: /v}]}]
volumes: [{name: v, emptyDir: {sizeLimit: 1Gi}}]
`))
	b.ReportAllocs()
	for b.Loop() {
		Read(n, Rules{Layer: placement.Overlay, Path: "steps[a].k8s_overlay"})
	}
}
