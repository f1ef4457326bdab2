package placement

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"pgregory.net/rapid"
)

// agreesWithKubernetes draws a pod spec and an overlay that have nothing of what the tables list as
// different on purpose, and compares what Compose makes of them with Kubernetes' strategic merge.
// Lists with keys are compared as sets, since that puts the patch's items first.
func agreesWithKubernetes(t *rapid.T) {
	g := gen{T: t, theirs: true}
	original := g.fragment()
	g.removes = true
	patch := g.fragment()
	g.direct(original, patch)
	want, err := strategicpatch.StrategicMergeMapPatch(Clone(original).(map[string]any), Clone(patch).(map[string]any), corev1.PodSpec{})
	if err != nil {
		t.Fatal(err)
	}
	result := Compose([]Layer{{Kind: Baseline, Fragment: original}, {Kind: Overlay, Fragment: patch}}, Governs{})
	if result.Findings.Len() > 0 {
		t.Fatal(result.Findings.Text(nil))
	}
	sameFragment(t, "Berth and Kubernetes", asPodSpec(t, result.Fragment), asPodSpec(t, want))
}

// direct adds directives to a patch. It adds them only where there is something to remove: else
// Kubernetes' merge loses what stands beside $patch: replace in a map, and leaves an empty item of
// it in a list.
func (g gen) direct(original, patch map[string]any) {
	for _, field := range []string{"nodeSelector", "imagePullSecrets", "hostAliases", "containers", "volumes"} {
		if original[field] == nil || !g.chance(2) {
			continue
		}
		switch v := patch[field].(type) {
		case map[string]any:
			v["$patch"] = "replace"
		case []any:
			if len(v) == 0 || g.chance(1) {
				patch[field] = append(v, map[string]any{"$patch": "replace"})
				continue
			}
			key := podSpec.Field(field).keys[0].field
			v[0] = map[string]any{key: v[0].(map[string]any)[key], "$patch": "delete"}
		}
	}
}

// asPodSpec is what the API server reads: without the nulls that strategic merge leaves where there
// was nothing to remove, and without maps and lists that are empty.
func asPodSpec(t *rapid.T, fragment map[string]any) map[string]any {
	var spec corev1.PodSpec
	if err := json.Unmarshal(asJSON(fragment), &spec); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(asJSON(spec), &m); err != nil {
		t.Fatal(err)
	}
	return unordered(m)
}

func TestAgreesWithKubernetes(t *testing.T) { rapid.Check(t, agreesWithKubernetes) }

// FuzzAgreesWithKubernetes is the same test, on what the fuzzer makes of the seeds.
func FuzzAgreesWithKubernetes(f *testing.F) {
	for i := range byte(8) {
		var seed []byte
		for sum := sha256.Sum256([]byte{i}); len(seed) < 8192; sum = sha256.Sum256(sum[:]) {
			seed = append(seed, sum[:]...)
		}
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(agreesWithKubernetes))
}
