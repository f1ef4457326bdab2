package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/logs"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

func newResume() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Go on with a run whose berth has ended",
		Long: `Go on with a run whose berth was killed or left: what still runs goes on, what has ended is taken in,
and what is left over is removed. Without a run it takes the newest that has not ended, or else the
newest, which may have left something to be removed. Other runs of the
same cluster and namespace go on as well while it works.

Exit codes: as of berth run.`,
		Example: `  berth resume
  berth resume 01KBJ`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageErrorf(cmd, "name one run, or none for the newest that has not ended")
			}
			return nil
		},
	}
	state := addState(cmd)
	output := addFormat(cmd, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id := ""
		if len(args) == 1 {
			id = args[0]
		}
		return resume(cmd, *state, id, output.value)
	}
	return cmd
}

func resume(cmd *cobra.Command, state, id, output string) error {
	folder, err := stateFolder(state)
	if err != nil {
		return &codeError{exitNoService, err}
	}
	ctx := cmd.Context()
	reader, _, err := readStore(ctx, folder) // which makes no state where there is none
	if err != nil {
		return err
	}
	reader.Close()
	s, err := openStore(ctx, folder)
	if err != nil {
		return err
	}
	defer s.Close()
	if id == "" {
		all, err := s.Runs(ctx, store.Query{Status: []run.Status{run.Queued, run.Running}, Most: 1})
		if err != nil {
			return &codeError{exitNoService, err}
		}
		if len(all) == 0 { // one that has ended may have left pods: its berth was killed right then
			all, err = s.Runs(ctx, store.Query{Status: []run.Status{run.Succeeded, run.Failed, run.Cancelled}, Most: 1})
		}
		if err != nil {
			return &codeError{exitNoService, err}
		}
		if len(all) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "berth: there is no run to go on with")
			return nil
		}
		id = all[0].ID
	}
	d, err := findRun(ctx, s, id)
	if err != nil {
		return err
	}
	var how setup
	if d.Status == run.Rejected || json.Unmarshal(d.Setup, &how) != nil {
		return &codeError{exitInvalid, fmt.Errorf("the run %s is %s: there is nothing to go on with", d.ID, d.Status)}
	}
	w := &work{cmd: cmd, folder: folder, store: s, target: how.target, output: output}
	if err := w.open(ctx, d.ID); err != nil {
		return err
	}
	defer w.close()
	return w.seeThrough(ctx, []string{d.ID})
}

// archiveOf says where the logs of a run are: where the operator file says that it ran under.
func archiveOf(data []byte, flag, folder string) (string, error) {
	var how setup
	_ = json.Unmarshal(data, &how) // then the state's own folder is right
	name := flag
	if name == "" {
		name = how.Operator
	}
	if name != "" {
		if text, err := readFile(name); err == nil {
			if file, _ := profile.Load(name, text); file != nil && file.Logs.Archive != "" {
				return file.Logs.Archive, nil
			}
		} else if flag != "" {
			return "", &codeError{exitInvalid, err}
		}
	}
	return logs.FileURL(filepath.Join(folder, "logs")), nil
}
