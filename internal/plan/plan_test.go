package plan

import (
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
)

// embedded is whoever runs berth on their own machine.
var embedded = govern.Who{Embedded: true}

// makeOf makes a plan of two texts; the operator's may be empty.
func makeOf(t testing.TB, operator, text string, in pipeline.Input) Outcome {
	t.Helper()
	op := profile.Empty()
	if operator != "" {
		var found = mustLoad(t, operator)
		op = found
	}
	f, findings := pipeline.Parse("pipeline.yaml", []byte(text), pipeline.Options{Privileged: op.PodSecurity == profile.Privileged})
	if f == nil {
		return Outcome{Findings: findings}
	}
	out := Make(f, op, in, embedded)
	out.Findings.Join(findings)
	return out
}

func mustLoad(t testing.TB, text string) *profile.File {
	t.Helper()
	op, findings := profile.Load("operator.yaml", []byte(text))
	if op == nil {
		t.Fatalf("the operator file is invalid:\n%s", findings.Text(map[string]string{"operator.yaml": text}))
	}
	return op
}

// planned is makeOf where a plan has to come out.
func planned(t testing.TB, operator, text string, in pipeline.Input) *Plan {
	t.Helper()
	out := makeOf(t, operator, text, in)
	if out.Plan == nil {
		t.Fatalf("no plan:\n%s", out.Findings.Text(map[string]string{"pipeline.yaml": text}))
	}
	return out.Plan
}

// origin gives the origin at a path of a step's pod.
func origin(t testing.TB, s *Step, path string) placement.Origin {
	t.Helper()
	for _, o := range s.Pod.Origins {
		if o.Path.String() == path {
			return o
		}
	}
	t.Fatalf("step %s has nothing at %s", s.Name, path)
	return placement.Origin{}
}

func (p *Plan) step(t testing.TB, name string) *Step {
	t.Helper()
	for i := range p.Steps {
		if p.Steps[i].Name == name {
			return &p.Steps[i]
		}
	}
	t.Fatalf("no step %q", name)
	return nil
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestACME holds the example to what it says of itself.
func TestACME(t *testing.T) {
	operator, text := read(t, "../../examples/acme/operator.yaml"), read(t, "../../examples/acme/release.yaml")
	p := planned(t, operator, text, pipeline.Input{Params: map[string]string{"version": "v1.2.3"}})

	const batch = "tolerations[workload-type:Equal:batch:NoSchedule]"
	set := func(step, path string, value any, layers string) {
		t.Helper()
		o := origin(t, p.step(t, step), path)
		if v, ok := value.(string); ok && o.Value != v || strings.Join(o.Layers, " ") != layers {
			t.Errorf("%s: %s is %v, set by %v; want %v, set by %s", step, path, o.Value, o.Layers, value, layers)
		}
	}
	for _, s := range p.Steps {
		set(s.Name, batch, nil, "baseline") // on every pod, whoever wrote the step
		set(s.Name, `nodeSelector."kubernetes.io/os"`, "linux", "baseline")
	}
	// Says nothing: the baseline and the default profile.
	set("build", `nodeSelector."kubernetes.io/arch"`, "amd64", "baseline")
	set("build", "nodeSelector.node-group", "general", "profile:general")
	// [arm64, critical]: both tolerations, both selectors, and not the default profile's.
	set("sign", "tolerations[tier:Equal:critical:NoSchedule]", nil, "profile:critical")
	set("sign", `nodeSelector."kubernetes.io/arch"`, "arm64", "profile:arm64")
	set("sign", "nodeSelector.tier", "critical", "profile:critical")
	if got := origin(t, p.step(t, "sign"), `nodeSelector."kubernetes.io/arch"`).Replaced; len(got) != 1 || got[0] != (placement.Replaced{Layer: "baseline", Value: "amd64"}) {
		t.Errorf("what profile:arm64 beat: %v", got)
	}
	if _, ok := p.step(t, "sign").Pod.Fragment["nodeSelector"].(map[string]any)["node-group"]; ok {
		t.Error("the default profile applies although the step lists others")
	}
	// A matrix over architectures names profiles by an expression.
	set("test (amd64)", `nodeSelector."kubernetes.io/arch"`, "amd64", "baseline profile:amd64")
	set("test (arm64)", `nodeSelector."kubernetes.io/arch"`, "arm64", "profile:arm64")
	// A permitted overlay.
	set("announce", `annotations."acme.example/cost-center"`, "4711", "k8s_overlay")

	// Without the environment, everything that needs it is refused, all at once.
	out := makeOf(t, operator, strings.Replace(text, "environment: prod\n", "", 1), pipeline.Input{Params: map[string]string{"version": "v1.2.3"}})
	if out.Plan != nil || !out.Refused {
		t.Fatal("not refused without an environment")
	}
	refusals := out.Findings.Text(nil)
	for _, want := range []string{"deploy-token", "deployer", "k8s_overlay"} {
		if !strings.Contains(refusals, want) {
			t.Errorf("no word of %s in\n%s", want, refusals)
		}
	}
	// A touched path that the environment's field paths do not cover is named.
	out = makeOf(t, operator, text+"      nodeSelector: {disk: ssd}\n", pipeline.Input{Params: map[string]string{"version": "v1.2.3"}})
	if all := out.Findings.All(); !out.Refused || len(all) != 1 || !strings.Contains(all[0].Message, "nodeSelector.disk") || all[0].Line == 0 {
		t.Errorf("a touched path outside the permit:\n%s", out.Findings.Text(nil))
	}
}
