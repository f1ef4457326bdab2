package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

func newShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RUN [STEP]",
		Short: "Show a run: its steps, where they are, and what they wait for",
		Long: `Show a run that is on record: its steps with their attempts, where each one was and under which
profiles, how it ended, and what those that have not started wait for. RUN is its id, or a beginning of
it. With a step, it shows where each value of the step's pod came from, the cluster's additions included.

Exit codes: 0; 2 there is no such run or step; 4 the state can't be read.`,
		Example: `  berth show 01KBJ
  berth show 01KBJ "test (arm64)"
  berth show 01KBJ -o json | jq '.steps[] | {name, status, node}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usageErrorf(cmd, "name a run, and a step if one is meant; \"berth runs\" lists the runs")
			}
			return nil
		},
	}
	state := addState(cmd)
	output := addFormat(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, _, err := readStore(cmd.Context(), *state)
		if err != nil {
			return err
		}
		defer s.Close()
		d, err := findRun(cmd.Context(), s, args[0])
		if err != nil {
			return err
		}
		if len(args) == 2 {
			return showOrigins(cmd, s, d, args[1], output.value)
		}
		if output.value == "json" {
			shown, err := runJSON(cmd.Context(), s, d)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), shown)
		}
		return printRun(cmd.OutOrStdout(), s, d)
	}
	return cmd
}

// findRun gives a run by its id, or a beginning of it.
func findRun(ctx context.Context, s store.Store, id string) (*store.Detail, error) {
	d, err := s.Run(ctx, id)
	var several *store.AmbiguousError
	switch {
	case errors.Is(err, store.ErrNoRun):
		return nil, &codeError{exitInvalid, fmt.Errorf("there is no run %s\nType \"berth runs\" for those that are on record", id)}
	case errors.As(err, &several):
		return nil, &codeError{exitInvalid, fmt.Errorf("several runs begin with %s: %s", id, strings.Join(several.IDs, ", "))}
	case err != nil:
		return nil, &codeError{exitNoService, err}
	}
	return d, nil
}

// findStep gives a step of a run by its ID, its name to people, or its name in the pipeline if that is one step.
func findStep(d *store.Detail, name string) (*plan.Step, *run.Step, error) {
	var known, among []string
	found := -1
	if d.Plan != nil {
		for i := range d.Plan.Steps {
			s := &d.Plan.Steps[i]
			known = append(known, s.Name)
			switch name {
			case s.ID, s.Name:
				return s, d.State.Steps[i], nil
			case s.Step:
				found = i
				among = append(among, s.Name)
			}
		}
	}
	switch {
	case len(among) == 1:
		return &d.Plan.Steps[found], d.State.Steps[found], nil
	case len(among) > 1:
		return nil, nil, &codeError{exitInvalid, fmt.Errorf("%s has several instances: name one of %s", name, finding.Either(among))}
	}
	return nil, nil, &codeError{exitInvalid, fmt.Errorf("the run has no step %s: %s", name, finding.DidYouMean(name, known, "it has "+finding.Either(known)))}
}

// shownStep is a step in JSON.
type shownStep struct {
	Name     string        `json:"name"`
	Profiles []string      `json:"placement_profiles"`
	Node     string        `json:"node,omitempty"`
	Attempts []run.Attempt `json:"attempts"`
	*run.Step
}

type shownDetail struct {
	shownRun
	Waiting  *run.Waiting `json:"waiting,omitempty"`
	Stop     *run.RunStop `json:"stop,omitempty"`
	Findings finding.List `json:"findings"`
	Steps    []shownStep  `json:"steps"`
}

func runJSON(ctx context.Context, s store.Store, d *store.Detail) (shownDetail, error) {
	out := shownDetail{shownRun: shownRecord(d.Record), Waiting: d.State.Waiting, Stop: d.State.Stop, Findings: d.Findings, Steps: []shownStep{}}
	for i, state := range d.State.Steps {
		step := shownStep{Name: d.Plan.Steps[i].Name, Step: state, Profiles: []string{}, Attempts: attemptsOf(d, state)}
		if state.Attempt != nil {
			step.Node = state.Attempt.Node
		}
		profiles, err := profilesOf(ctx, s, d, state)
		if err != nil {
			return out, err
		}
		step.Profiles = append(step.Profiles, profiles...)
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// attemptsOf are all attempts of a step, the oldest first.
func attemptsOf(d *store.Detail, s *run.Step) []run.Attempt {
	all := []run.Attempt{}
	for _, a := range d.Attempts {
		if a.Step == s.ID {
			all = append(all, a.Attempt)
		}
	}
	if s.Attempt != nil {
		all = append(all, *s.Attempt)
	}
	return all
}

// profilesOf names the profiles that a step ran under. They are the same for all of its attempts.
func profilesOf(ctx context.Context, s store.Store, d *store.Detail, step *run.Step) ([]string, error) {
	origins, err := s.Origins(ctx, run.Ref{Run: d.ID, Step: step.ID, Attempt: 1})
	if err != nil {
		return nil, &codeError{exitNoService, err}
	}
	return profilesIn(origins), nil
}

// profilesIn names the profiles among the layers of a pod, in the order in which they first set something.
func profilesIn(origins []placement.Origin) []string {
	var all []string
	add := func(layer string) {
		if name, ok := strings.CutPrefix(layer, "profile:"); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, o := range origins {
		for _, r := range o.Replaced {
			add(r.Layer)
		}
		for _, l := range o.Layers {
			add(l)
		}
	}
	return all
}

// printRun is the run for a reader.
func printRun(w io.Writer, s store.Store, d *store.Detail) error {
	status := string(d.Status)
	if colours(w) {
		status = paintStatus(status)
	}
	fmt.Fprintf(w, "\nrun %s  %s  %s", d.ID, d.Pipeline, status)
	if !d.StartedAt.IsZero() {
		fmt.Fprintf(w, "  %s", took(d.StartedAt, d.EndedAt))
	}
	if d.Environment != "" {
		fmt.Fprintf(w, "  environment %s", d.Environment)
	}
	fmt.Fprintln(w)
	switch {
	case d.State.Stop != nil:
		fmt.Fprintln(w, d.State.Stop.Message)
	case d.State.Waiting != nil:
		fmt.Fprintln(w, "waits: "+d.State.Waiting.Message)
	}
	if d.Status == run.Rejected {
		printFindings(w, d.Findings, nil)
		return nil
	}
	t := stepTable()
	for i, state := range d.State.Steps {
		profiles, err := profilesOf(context.Background(), s, d, state)
		if err != nil {
			return err
		}
		t.row(stepRow(d.Plan.Steps[i].Name, state, profiles)...)
	}
	t.write(w, "")
	return nil
}

func paintStatus(status string) string {
	colour := yellow
	switch run.Status(status) {
	case run.Succeeded:
		colour = green
	case run.Failed, run.Rejected:
		colour = red
	}
	return bold + colour + status + plain
}

// stepTable is a table of steps, with its head.
func stepTable() *table {
	t := &table{}
	t.row("STEP", "STATUS", "TRY", "NODE", "PROFILES", "WAITED", "RAN", "")
	return t
}

// stepRow is a step in it.
func stepRow(name string, s *run.Step, profiles []string) []string {
	try, node, waited, ran, said := "-", "-", "-", "-", ""
	if a := s.Attempt; a != nil {
		try = fmt.Sprint(a.Number)
		if a.Node != "" {
			node = a.Node
		}
		if !s.ReadyAt.IsZero() && !a.StartedAt.IsZero() {
			waited = shortDuration(max(0, a.StartedAt.Sub(s.ReadyAt)))
		}
		switch {
		case !a.FinishedAt.IsZero():
			ran = took(a.StartedAt, a.FinishedAt)
		case s.Status == run.StepRunning:
			ran = took(a.StartedAt, s.EndedAt)
		}
	}
	switch {
	case s.Waiting != nil && s.Status == run.StepRunning:
		said = s.Waiting.Message
	case s.Waiting != nil:
		said = "waits: " + s.Waiting.Message + placeText(s.Waiting.Place)
	case s.Outcome != nil && s.Outcome.Class != run.Success:
		said = s.Outcome.Message
	}
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		said = strings.TrimSpace(said + " " + name + "=" + finding.Clip(s.Outputs[name], 40))
	}
	listed := strings.Join(profiles, ",")
	if listed == "" {
		listed = "-"
	}
	return []string{name, string(s.Status), try, node, listed, waited, ran, said}
}

// showOrigins shows where the values of a step's pod came from.
func showOrigins(cmd *cobra.Command, s store.Store, d *store.Detail, name, output string) error {
	step, state, err := findStep(d, name)
	if err != nil {
		return err
	}
	attempt := 1
	if state.Attempt != nil {
		attempt = state.Attempt.Number
	}
	origins, err := s.Origins(cmd.Context(), run.Ref{Run: d.ID, Step: step.ID, Attempt: attempt})
	if err != nil {
		return &codeError{exitNoService, err}
	}
	if output == "json" {
		return printJSON(cmd.OutOrStdout(), map[string]any{"name": step.Name, "state": state, "attempts": attemptsOf(d, state), "origins": origins})
	}
	t := stepTable()
	t.row(stepRow(step.Name, state, profilesIn(origins))...)
	t.write(cmd.OutOrStdout(), "")
	if len(origins) > 0 {
		fmt.Fprintln(cmd.OutOrStdout())
		originTable(origins).write(cmd.OutOrStdout(), "")
	}
	return nil
}
