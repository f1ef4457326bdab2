package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
)

func newValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check pipeline files, and say everything that is wrong with them",
		Long: `Check pipeline files, and say everything that is wrong with them: with line, column, and what to
write instead. - is standard input.

With an operator file it also says what the operator's rules would refuse; without one, names of
profiles, pools and environments are taken as they are. What depends on a required parameter that is
not given is not looked at.

Exit codes: 0; 2 a file is invalid; 3 the operator's rules refuse a run of it.`,
		Example: `  berth validate .berth/*.yaml
  berth validate release.yaml --operator operator.yaml -o json`,
		Args: someFiles,
	}
	operator := addOperator(cmd)
	environment, params := addRun(cmd)
	output := addFormat(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		given, err := parseParams(cmd, *params)
		if err != nil {
			return err
		}
		return validate(cmd, files, *operator, output.value, pipeline.Input{Params: given, Environment: *environment, Partial: true})
	}
	return cmd
}

// someFiles is for commands that take files.
func someFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageErrorf(cmd, "no file: name a pipeline file, or - for standard input")
	}
	return nil
}

// addRun gives cmd the flags that say what a run is given beside the file.
func addRun(cmd *cobra.Command) (environment *string, params *[]string) {
	environment = cmd.Flags().String("environment", "", "environment to target, where the pipeline names none")
	params = cmd.Flags().StringArray("param", nil, "parameter of the run, as NAME=VALUE; may be given several times")
	return environment, params
}

func validate(cmd *cobra.Command, files []string, operatorFlag, output string, run pipeline.Input) error {
	in := newInputs(cmd)
	operator, all, err := in.operator(operatorFlag, "names of profiles, pools and environments are not checked")
	if err != nil {
		return err
	}
	code := exitOK
	if all.HasErrors() {
		code = exitInvalid
	}
	for _, name := range files {
		file, findings, err := in.pipeline(name, operator)
		if err != nil {
			return err
		}
		c := exitOK
		if file == nil {
			c = exitInvalid
		} else if operator != nil {
			var more finding.List
			more, c = wouldRun(file, operator, run)
			findings.Join(more)
		}
		all.Join(findings)
		code = graver(code, c)
	}
	if output == "json" {
		if err := printJSON(cmd.OutOrStdout(), map[string]any{"findings": all}); err != nil {
			return err
		}
		return said(code)
	}
	printFindings(cmd.OutOrStdout(), all, in.sources)
	fmt.Fprintln(cmd.ErrOrStderr(), summary(len(files), all))
	return said(code)
}

// graver is the exit code that wins: what is invalid before what is refused.
func graver(a, b int) int {
	if a == exitInvalid || b == exitInvalid {
		return exitInvalid
	}
	return max(a, b)
}

// wouldRun says what stands against a run of the file, as far as it can be told.
func wouldRun(file *pipeline.File, operator *profile.File, in pipeline.Input) (finding.List, int) {
	if operator.Name == "" {
		expansion, findings := file.Expand(in)
		if findings.HasErrors() {
			return findings, exitInvalid
		}
		var missing []finding.Finding
		for i := range expansion.Steps {
			if s := &expansion.Steps[i]; s.Image == "" {
				missing = append(missing, s.At("image").Found(finding.KeyMissing, finding.Warning, "add image to the step, or to defaults for all steps",
					"steps[%s] has no image: it can't run in a cluster", s.Step))
			}
		}
		findings.Add(missing...)
		return findings, exitOK
	}
	out := plan.Make(file, operator, in, govern.Who{Embedded: true})
	return out.Findings, outcomeCode(out)
}

func outcomeCode(out plan.Outcome) int {
	switch {
	case out.Plan != nil:
		return exitOK
	case out.Refused:
		return exitRefused
	default:
		return exitInvalid
	}
}

// summary counts findings.
func summary(files int, findings finding.List) string {
	count := map[finding.Severity]int{}
	for _, f := range findings.All() {
		count[f.Severity]++
	}
	text := plural(files, "file") + ": "
	if findings.Len() == 0 {
		return text + "ok"
	}
	return text + plural(count[finding.Error], "error") + ", " + plural(count[finding.Warning], "warning") + ", " + plural(count[finding.Note], "note")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
