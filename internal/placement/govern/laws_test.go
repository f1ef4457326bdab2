package govern

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/fragment"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/source"
)

// overlaid is a step that has an overlay and nothing else.
func overlaid(overlay map[string]any) *Step {
	result := placement.Compose([]placement.Layer{{Kind: placement.Overlay, Fragment: overlay}}, placement.Governs{})
	instance := &pipeline.Instance{Overlay: fragment.Fragment{Value: overlay, Node: &source.Node{Kind: source.Map}}}
	return &Step{instance, result.Fragment, result.Origins}
}

func permitting(p profile.Permits) *profile.File {
	file := profile.Empty()
	file.Environments = []profile.Environment{{Name: "prod", Permits: p}}
	return file
}

// keys are names of fields, known and unknown, none of which refers to anything.
var keys = rapid.SampledFrom([]string{"affinity", "volumes", "containers", "initContainers", "name", "csi", "projected", "sources", "newField", "env", "valueFrom", "x"})

func anyObject(depth int) *rapid.Generator[map[string]any] {
	return rapid.MapOfN(keys, anyValue(depth), 0, 3)
}

func anyValue(depth int) *rapid.Generator[any] {
	scalar := rapid.OneOf(rapid.StringN(0, 3, 3).AsAny(), rapid.Int64Range(-1, 1).AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil))
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar, anyObject(depth-1).AsAny(), rapid.SliceOfN(anyValue(depth-1), 0, 3).AsAny())
}

// hidden is an object that refers to something of the name, somewhere in it.
func hidden(name string, depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		o := anyObject(1).Draw(t, "beside")
		if depth > 0 && rapid.Bool().Draw(t, "deeper") {
			var below any = hidden(name, depth-1).Draw(t, "below")
			if rapid.Bool().Draw(t, "list") {
				below = append(rapid.SliceOfN(anyValue(1), 0, 2).Draw(t, "before"), below)
			}
			o[keys.Draw(t, "key")] = below
			return o
		}
		switch rapid.IntRange(0, 7).Draw(t, "form") {
		case 0:
			o["secretName"] = name
		case 1:
			o["newSecretRef"] = map[string]any{"name": name, "key": "k"}
		case 2:
			o["SECRETS"] = []any{"other", name}
		case 3:
			o["pullSecrets"] = []any{map[string]any{"name": name}}
		case 4:
			o["claimName"] = name
		case 5:
			o["serviceAccount"] = name
		case 6:
			o["ref"] = map[string]any{"kind": "Secret", "name": name}
		case 7:
			o["persistentVolumeClaim"] = map[string]any{"claimName": name}
		}
		return o
	})
}

// TestNoPermitNoOverlay: an environment that permits nothing admits no overlay, whatever is in it.
func TestNoPermitNoOverlay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := overlaid(anyObject(3).Draw(t, "overlay"))
		for _, environment := range []string{"", "prod", "other"} {
			operator := permitting(profile.Permits{Secrets: []string{"s"}, ServiceAccounts: []string{"default"}, Claims: []string{"c"}})
			if len(NewRequest(step, environment, operator).Check(operator)) == 0 {
				t.Fatalf("admitted in the environment %q", environment)
			}
		}
	})
}

// TestAllFieldsGrantNoReference: k8s_overlay: true never grants what an overlay refers to, and the permit for
// the name does.
func TestAllFieldsGrantNoReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := overlaid(hidden("needle", 3).Draw(t, "overlay"))
		operator := permitting(profile.Permits{Overlay: profile.OverlayPermit{All: true}})
		request := NewRequest(step, "prod", operator)
		denied := slices.ContainsFunc(request.Check(operator), func(d Denial) bool {
			return d.Key == "k8s_overlay" && len(d.Path) > 0
		})
		named := slices.ContainsFunc(request.References, func(r Reference) bool { return r.Name == "needle" })
		if !denied || !named {
			t.Fatalf("granted: %v", request.References)
		}
		names := []string{"needle", "other", "default"}
		operator = permitting(profile.Permits{Overlay: profile.OverlayPermit{All: true}, Secrets: names, ServiceAccounts: names, Claims: names})
		if denials := request.Check(operator); len(denials) > 0 {
			t.Fatalf("permitted, and denied: %v", denials)
		}
	})
}

// TestTypedNeverPanics: a fragment that is no pod is an error, whatever it is.
func TestTypedNeverPanics(t *testing.T) {
	fields := rapid.SampledFrom([]string{"containers", "volumes", "tolerations", "affinity", "labels", "resources", "overhead",
		"name", "limits", "cpu", "securityContext", "hostNetwork", "ports", "env", "activeDeadlineSeconds", "emptyDir", "sizeLimit"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalar := rapid.OneOf(rapid.SampledFrom([]any{nil, true, "", "1Gi", "x", 1.5, int64(1), int64(-1) << 62}), rapid.Float64().AsAny())
		if depth == 0 {
			return scalar
		}
		return rapid.OneOf(scalar, rapid.MapOfN(fields, value(depth-1), 0, 3).AsAny(), rapid.SliceOfN(value(depth-1), 0, 3).AsAny())
	}
	rapid.Check(t, func(t *rapid.T) {
		if pod, err := typed(rapid.MapOfN(fields, value(4), 0, 4).Draw(t, "fragment")); (pod == nil) == (err == nil) {
			t.Fatal("a pod and an error, or neither")
		}
	})
}

// BenchmarkAdmit admits as many steps as a run may have.
func BenchmarkAdmit(b *testing.B) {
	operator := load(b, `
version: 1
baseline:
  k8s:
    tolerations: [{key: workload-type, operator: Equal, value: batch, effect: NoSchedule}]
    nodeSelector: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}
    initContainers: [{name: proxy, image: p, restartPolicy: Always, resources: {requests: {cpu: 10m}, limits: {cpu: 10m, memory: 10Mi}}}]
  resources: {cpu: 500m, memory: 512Mi}
placement_profiles: [{name: arm64, k8s: {nodeSelector: {kubernetes.io/arch: arm64}}}]
resource_limits: {cpu: "32", memory: 128Gi}
environments:
  - {name: prod, permits: {k8s_overlay: [affinity, labels, volumes], secrets: [a, b], service_accounts: [deployer]}}
`)
	text := "version: 1\nname: p\nenvironment: prod\nsteps:\n"
	for n := range 10 {
		text += fmt.Sprintf("  - {name: s%d, image: i, run: x, matrix: {n: [%s]}, placement_profiles: [arm64], secrets: {A: a/k}, service_account: deployer, resources: {cpu: \"1\"},\n"+
			"     k8s_overlay: {labels: {a: b}, volumes: [{name: v, secret: {secretName: b}}, {name: w, emptyDir: {}}], affinity: {podAffinity: {}}}}\n", n, numbers(200))
	}
	run := compile(b, operator, text, "")
	if len(run.Steps) != 2000 {
		b.Fatal(len(run.Steps))
	}
	if findings, _ := Admit(run, Who{Operator: true}, operator); findings.Len() > 0 {
		b.Fatal(findings.All()[0])
	}
	for b.Loop() {
		Admit(run, Who{Operator: true}, operator)
	}
}

func numbers(n int) string {
	s := "0"
	for i := 1; i < n; i++ {
		s += fmt.Sprintf(", %d", i)
	}
	return s
}
