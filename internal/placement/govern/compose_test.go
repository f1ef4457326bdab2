package govern

import (
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// compile makes a run of a pipeline file, with the layers that bear on what is tested here.
func compile(t testing.TB, operator *profile.File, text, environment string) Run {
	t.Helper()
	file, findings := pipeline.Parse("pipeline.yaml", []byte(text), pipeline.Options{Privileged: operator.PodSecurity == profile.Privileged})
	sources := map[string]string{"pipeline.yaml": text}
	if findings.HasErrors() {
		t.Fatalf("the pipeline is refused before it gets here:\n%s", findings.Text(sources))
	}
	expansion, findings := file.Expand(pipeline.Input{Environment: environment})
	if findings.HasErrors() {
		t.Fatalf("the pipeline is refused before it gets here:\n%s", findings.Text(sources))
	}
	run := Run{Expansion: expansion}
	for i := range expansion.Steps {
		step := &expansion.Steps[i]
		result := placement.Compose(layers(t, operator, expansion, step), operator.Governs())
		if result.Findings.HasErrors() {
			t.Fatalf("the layers are refused before they get here:\n%s", result.Findings.Text(sources))
		}
		run.Steps = append(run.Steps, Step{step, result.Fragment, result.Origins})
	}
	return run
}

func layers(t testing.TB, operator *profile.File, e *pipeline.Expansion, i *pipeline.Instance) []placement.Layer {
	t.Helper()
	builtin := map[string]any{"restartPolicy": "Never", "automountServiceAccountToken": false, "containers": []any{map[string]any{
		"name": "step", "securityContext": map[string]any{"allowPrivilegeEscalation": false, "seccompProfile": map[string]any{"type": "RuntimeDefault"}}}}}
	all := []placement.Layer{{Kind: placement.Builtin, Fragment: builtin}}
	theirs, found := operator.Layers(i.PlacementProfiles, profile.RunFacts{Pipeline: e.File.Pipeline.Name, Environment: e.Environment})
	if len(found) > 0 {
		t.Fatal(found)
	}
	return append(append(all, theirs...),
		placement.Layer{Kind: placement.Step, Fragment: stepFragment(i)},
		placement.Layer{Kind: placement.Resources, Fragment: i.Resources.Fragment()},
		placement.Layer{Kind: placement.Overlay, Fragment: i.Overlay.Value, Locate: i.Overlay.Locate})
}

func stepFragment(i *pipeline.Instance) map[string]any {
	var env, services []any
	for _, name := range sortedKeys(i.Secrets) {
		env = append(env, map[string]any{"name": name, "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": i.Secrets[name].Secret, "key": i.Secrets[name].Key}}})
	}
	for _, s := range i.Services {
		services = append(services, map[string]any{"name": s.Name, "image": s.Image, "restartPolicy": "Always", "resources": s.Resources.Object()})
	}
	container := map[string]any{"name": "step", "image": i.Image}
	if env != nil {
		container["env"] = env
	}
	f := map[string]any{"containers": []any{container}}
	if services != nil {
		f["initContainers"] = services
	}
	if i.ServiceAccount != "" {
		f["serviceAccountName"], f["automountServiceAccountToken"] = i.ServiceAccount, true
	}
	return f
}

func load(t testing.TB, text string) *profile.File {
	t.Helper()
	file, findings := profile.Load("operator.yaml", []byte(text))
	if file == nil {
		t.Fatalf("the operator file is refused:\n%s", findings.Text(map[string]string{"operator.yaml": text}))
	}
	return file
}
