package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/logs"
	"github.com/berthdev/berth/internal/run"
)

func newLogs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logs RUN STEP",
		Short: "Print the log of a step",
		Long: `Print what a step has written, as it was archived when its attempt ended: up to the last 16 MiB. While a
step runs its log is shown by the berth that runs it.

Exit codes: 0; 1 there is no log; 2 there is no such run or step; 4 the state can't be read.`,
		Example: `  berth logs 01KBJ build
  berth logs 01KBJ "test (arm64)" --attempt 1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageErrorf(cmd, "name a run and a step; \"berth show RUN\" lists the steps")
			}
			return nil
		},
	}
	state := addState(cmd)
	operator := addOperator(cmd)
	attempt := cmd.Flags().Int("attempt", 0, "number of the attempt (default the last one)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return printLog(cmd, *state, *operator, args[0], args[1], *attempt)
	}
	return cmd
}

func printLog(cmd *cobra.Command, state, operator, id, name string, number int) error {
	s, folder, err := readStore(cmd.Context(), state)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := findRun(cmd.Context(), s, id)
	if err != nil {
		return err
	}
	step, now, err := findStep(d, name)
	if err != nil {
		return err
	}
	if number == 0 && now.Attempt != nil {
		number = now.Attempt.Number
	}
	location, err := archiveOf(d.Setup, operator, folder)
	if err != nil {
		return err
	}
	archive, err := openArchive(cmd.Context(), location, folder)
	if err != nil {
		return err
	}
	defer archive.Close()
	r, err := archive.Read(cmd.Context(), run.Ref{Run: d.ID, Step: step.ID, Attempt: number})
	if errors.Is(err, executor.ErrNoLog) {
		return fmt.Errorf("there is no log of %s: %s", step.Name, whyNoLog(now))
	}
	if err != nil {
		return &codeError{exitNoService, err}
	}
	defer r.Close()
	if isTerminal(cmd.OutOrStdout()) {
		return logs.Lines(r, func(line string) { fmt.Fprintln(cmd.OutOrStdout(), line) })
	}
	_, err = io.Copy(cmd.OutOrStdout(), r)
	return err
}

func whyNoLog(s *run.Step) string {
	switch {
	case s.Attempt == nil:
		return "it has not started"
	case s.Attempt.StartedAt.IsZero():
		return "its container never started"
	case !s.Status.Ended():
		return "it has not ended; the berth that runs it shows its log"
	}
	return "none was kept"
}
