package cli

import (
	"context"
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
newest, which may have left something to be removed. Other runs of the same cluster and namespace go on
as well while it works.

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
		if id, err = newest(ctx, s); err != nil {
			return &codeError{exitNoService, err}
		}
		if id == "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "berth: there is no run to go on with")
			return nil
		}
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
	if err := w.open(ctx); err != nil {
		return err
	}
	defer w.close()
	return w.seeThrough(ctx, d.ID)
}

// newest gives the newest run that has not ended, or else the newest that was admitted: it may have left pods, if
// its berth was killed right then. "" if there is none.
func newest(ctx context.Context, s store.Store) (string, error) {
	for _, status := range [][]run.Status{{run.Queued, run.Running}, {run.Succeeded, run.Failed, run.Cancelled}} {
		all, err := s.Runs(ctx, store.Query{Status: status, Most: 1})
		if err != nil {
			return "", err
		}
		if len(all) > 0 {
			return all[0].ID, nil
		}
	}
	return "", nil
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
			if file, _ := profile.Load(name, text); file != nil {
				return archiveAt(file, folder), nil
			}
		} else if flag != "" {
			return "", &codeError{exitInvalid, err}
		}
	}
	return archiveAt(profile.Empty(), folder), nil
}

// archiveAt says where logs are kept: where the operator file says, or in the state's folder.
func archiveAt(operator *profile.File, folder string) string {
	if operator.Logs.Archive != "" {
		return operator.Logs.Archive
	}
	return logs.FileURL(filepath.Join(folder, "logs"))
}

// openArchive opens it. What is read is spooled in the state's folder.
func openArchive(ctx context.Context, location, folder string) (*logs.Archive, error) {
	archive, err := logs.Open(ctx, location, filepath.Join(folder, "spool"))
	if err != nil {
		return nil, &codeError{exitNoService, err}
	}
	return archive, nil
}
