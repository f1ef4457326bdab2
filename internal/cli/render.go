package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/executor/kube/podspec"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
)

// renderFlags is the command line of render.
type renderFlags struct {
	operator, environment, step string
	params                      []string
	origins                     bool
	output                      string
}

func newRender() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Print the pods that a run would create",
		Long: `Print the pods that a run of the pipeline would create, without creating anything: from the
operator's baseline and profiles, the step, its resources and its k8s_overlay, and from what Berth
adds. It needs no cluster. - is standard input.

What is only known in a run stands there as zeros (its id) or as it was written (expressions that
read outputs of other steps). With --origins it also says of each value which layer set it, and
over which others.

Exit codes: 0; 2 a file or a parameter is invalid; 3 the operator's rules refuse the run.`,
		Example: `  berth render release.yaml --operator operator.yaml --param version=v1.2.3
  berth render release.yaml --operator operator.yaml --step "test (arm64)" --origins
  berth render release.yaml --operator operator.yaml -o json | jq '.steps[].pod.spec.nodeSelector'`,
		Args: oneFile,
	}
	operator := addOperator(cmd)
	environment, params := addRun(cmd)
	step := cmd.Flags().String("step", "", "this step alone: its name, or that of one instance of its matrix")
	origins := cmd.Flags().Bool("origins", false, "say of each value which layers set it, and over which others")
	output := addFormat(cmd, "yaml", "json", "table")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return render(cmd, args[0], renderFlags{*operator, *environment, *step, *params, *origins, output.value})
	}
	return cmd
}

// oneFile is for commands that take one file.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageErrorf(cmd, "name one pipeline file, or - for standard input")
	}
	return nil
}

// rendered is what render -o json prints.
type rendered struct {
	Steps    []renderedStep `json:"steps"`
	Findings finding.List   `json:"findings"` // all, those of steps among them
}

type renderedStep struct {
	Name     string             `json:"name"`
	Matrix   map[string]any     `json:"matrix"`
	Pod      map[string]any     `json:"pod"`
	Origins  []placement.Origin `json:"origins"`
	Findings finding.List       `json:"findings"`

	layers []string // of the operator's and the overlay, in their order
}

func render(cmd *cobra.Command, name string, f renderFlags) error {
	params, err := parseParams(cmd, f.params)
	if err != nil {
		return err
	}
	in := newInputs(cmd)
	operator, file, findings, err := in.both(f.operator, "an empty one is used, with no baseline, no profiles and no environments", name)
	if err != nil {
		return err
	}
	var out plan.Outcome
	code := exitInvalid
	if file != nil && operator != nil {
		out = plan.Make(file, operator, pipeline.Input{Params: params, Environment: f.environment}, govern.Who{Embedded: true})
		findings.Join(out.Findings)
		code = outcomeCode(out)
	}
	result := rendered{Steps: []renderedStep{}, Findings: findings}
	if out.Plan != nil {
		if result.Steps, err = renderSteps(cmd, out, operator, f.step); err != nil {
			return err
		}
	}
	if f.output == "json" {
		if err := printJSON(cmd.OutOrStdout(), result); err != nil {
			return err
		}
		return said(code)
	}
	printFindings(cmd.ErrOrStderr(), findings, in.sources)
	if out.Plan == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), summary(1, findings))
		return said(code)
	}
	if f.output == "table" {
		renderTable(cmd.OutOrStdout(), result.Steps, f.origins)
		return nil
	}
	return renderYAML(cmd.OutOrStdout(), result.Steps, f.origins)
}

// parseParams reads NAME=VALUE.
func parseParams(cmd *cobra.Command, all []string) (map[string]string, error) {
	params := map[string]string{}
	for _, p := range all {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usageErrorf(cmd, "--param %q is not NAME=VALUE", p)
		}
		if _, twice := params[name]; twice {
			return nil, usageErrorf(cmd, "--param gives %s twice", name)
		}
		params[name] = value
	}
	return params, nil
}

// noRun is the id of a run that is not one.
const noRun = "00000000000000000000000000"

// renderSteps makes the pods of the steps that are asked for: all if step is empty.
func renderSteps(cmd *cobra.Command, out plan.Outcome, operator *profile.File, step string) ([]renderedStep, error) {
	all := []renderedStep{}
	for i := range out.Plan.Steps {
		s := &out.Plan.Steps[i]
		if step != "" && !isCalled(s, step) {
			continue
		}
		pod, err := podspec.Pod(s, podspec.Facts{Instance: noRun, Run: noRun, Attempt: 1, Fence: 1, Preview: true})
		if err != nil {
			return nil, err
		}
		matrix := map[string]any(s.Matrix)
		if matrix == nil {
			matrix = map[string]any{}
		}
		all = append(all, renderedStep{s.Name, matrix, pod, s.Pod.Origins, out.Steps[i], layersOf(s, operator)})
	}
	if len(all) == 0 {
		return nil, noStep(cmd, out.Plan, step)
	}
	return all, nil
}

// isCalled says whether a step, or the one of the pipeline that it is an instance of, has the name.
func isCalled(s *plan.Step, name string) bool {
	return name == s.Step || name == s.Name || name == s.ID
}

// noStep says that --step names none, and which there are.
func noStep(cmd *cobra.Command, p *plan.Plan, name string) error {
	var known []string
	for i := range p.Steps {
		known = append(known, p.Steps[i].Step, p.Steps[i].Name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return usageErrorf(cmd, "--step %q: %s", name, finding.DidYouMean(name, known, "the run has "+finding.Either(known)))
}

// renderYAML prints documents that kubectl reads, with comments between them.
func renderYAML(w io.Writer, steps []renderedStep, origins bool) error {
	for _, s := range steps {
		fmt.Fprintf(w, "---\n# step %s\n", s.Name)
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(s.Pod); err != nil {
			return err
		}
		if bytes.Contains(b.Bytes(), []byte("$$")) {
			fmt.Fprintf(w, "# $$ is how a pod says $ in command, args and env\n")
		}
		w.Write(b.Bytes())
		if origins {
			fmt.Fprintf(w, "# origins\n")
			originTable(s.Origins).write(w, "#   ")
		}
	}
	return nil
}

func renderTable(w io.Writer, steps []renderedStep, origins bool) {
	if origins {
		for i, s := range steps {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "step %s\n", s.Name)
			originTable(s.Origins).write(w, "  ")
		}
		return
	}
	t := &table{}
	t.row("STEP", "IMAGE", "REQUESTS", "NODE SELECTOR", "TOLERATIONS", "LAYERS")
	for _, s := range steps {
		t.row(s.Name, field(s.Pod, "spec.containers[step].image"), field(s.Pod, "spec.containers[step].resources.requests"),
			field(s.Pod, "spec.nodeSelector"), tolerations(s.Pod), strings.Join(s.layers, " "))
	}
	t.write(w, "")
}

// originTable has a row for each value.
func originTable(origins []placement.Origin) *table {
	t := &table{}
	t.row("PATH", "VALUE", "LAYER", "REPLACED")
	for _, o := range origins {
		value := shortJSON(o.Value)
		if o.Value == nil {
			value = "(removed)"
		}
		var lost []string
		for _, r := range o.Replaced {
			lost = append(lost, r.Layer+": "+shortJSON(r.Value))
		}
		t.row(o.Path.String(), value, strings.Join(o.Layers, " + "), strings.Join(lost, ", "))
	}
	return t
}

// layersOf names the layers of the operator, and the overlay, that set something, in their order.
func layersOf(s *plan.Step, operator *profile.File) []string {
	layers := []string{placement.Baseline.String()}
	for _, p := range operator.ProfilesFor(s.PlacementProfiles) {
		layers = append(layers, placement.Layer{Kind: placement.Profile, Name: p.Name}.String())
	}
	layers = append(layers, placement.Overlay.String())
	return slices.DeleteFunc(layers, func(layer string) bool {
		return !slices.ContainsFunc(s.Pod.Origins, func(o placement.Origin) bool { return slices.Contains(o.Layers, layer) })
	})
}
