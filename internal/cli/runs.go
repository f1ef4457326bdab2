package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

func newRuns() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs that are on record",
		Long: `List the runs that are on record in the state folder, the newest first. It reads beside a berth that
works with them.

Exit codes: 0; 4 there is no state, or it can't be read.`,
		Example: `  berth runs
  berth runs --pipeline release --status failed,cancelled
  berth runs -o json | jq -r '.runs[0].id'`,
		Args: noArgs,
	}
	state := addState(cmd)
	pipeline := cmd.Flags().String("pipeline", "", "runs of this pipeline alone")
	status := cmd.Flags().StringSlice("status", nil, "runs with one of these: queued, running, succeeded, failed, cancelled, rejected")
	most := cmd.Flags().Int("limit", 20, "how many at most")
	output := addFormat(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q := store.Query{Pipeline: *pipeline, Most: *most}
		for _, s := range *status {
			if !knownStatus(run.Status(s)) {
				return usageErrorf(cmd, "--status %q: write queued, running, succeeded, failed, cancelled or rejected", s)
			}
			q.Status = append(q.Status, run.Status(s))
		}
		return listRuns(cmd, *state, q, output.value)
	}
	return cmd
}

func knownStatus(s run.Status) bool {
	switch s {
	case run.Queued, run.Running, run.Succeeded, run.Failed, run.Cancelled, run.Rejected:
		return true
	}
	return false
}

// shownRun is a run of a list in JSON.
type shownRun struct {
	ID          string     `json:"id"`
	Pipeline    string     `json:"pipeline"`
	Environment string     `json:"environment,omitempty"`
	Target      string     `json:"target"`
	Source      string     `json:"source"`
	Status      run.Status `json:"status"`
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   time.Time  `json:"started_at,omitzero"`
	EndedAt     time.Time  `json:"ended_at,omitzero"`
	Steps       int        `json:"steps"`
	StepsEnded  int        `json:"steps_ended"`
}

func shownRecord(r store.Record) shownRun {
	return shownRun{r.ID, r.Pipeline, r.Environment, r.Target, r.Source, r.Status, r.CreatedAt, r.StartedAt, r.EndedAt, r.Steps, r.Ended}
}

func listRuns(cmd *cobra.Command, state string, q store.Query, output string) error {
	s, folder, err := readStore(cmd.Context(), state)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.Runs(cmd.Context(), q)
	if err != nil {
		return &codeError{exitNoService, err}
	}
	if output == "json" {
		shown := []shownRun{}
		for _, r := range all {
			shown = append(shown, shownRecord(r))
		}
		return printJSON(cmd.OutOrStdout(), map[string]any{"runs": shown})
	}
	if len(all) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "no such runs in %s\n", folder)
		return nil
	}
	var t table
	t.row("RUN", "PIPELINE", "STATUS", "STEPS", "STARTED", "TOOK", "WHERE")
	for _, r := range all {
		where, _, _ := strings.Cut(r.Target, " ")
		t.row(r.ID, r.Pipeline, string(r.Status), fmt.Sprintf("%d/%d", r.Ended, r.Steps), age(r.CreatedAt), took(r.StartedAt, r.EndedAt), where)
	}
	t.write(cmd.OutOrStdout(), "")
	return nil
}

// age says how long ago something was, as kubectl does.
func age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := time.Since(t)
	if d > 48*time.Hour {
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return shortDuration(d) + " ago"
}

// took is the time between two; until now if there is no second one.
func took(from, to time.Time) string {
	switch {
	case from.IsZero():
		return "-"
	case to.IsZero():
		to = time.Now()
	}
	return shortDuration(to.Sub(from))
}
