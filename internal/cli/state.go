package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/sqlite"
)

// addState gives cmd the flag --state.
func addState(cmd *cobra.Command) *string {
	return cmd.Flags().String("state", "", "folder with the state of runs (default $XDG_STATE_HOME/berth, or ~/.local/state/berth)")
}

// stateFolder is the folder that is meant.
func stateFolder(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	// The XDG base directory specification wants relative paths ignored.
	if home := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, "berth"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("there is no home folder to keep the state in: name one with --state DIR")
	}
	return filepath.Join(home, ".local", "state", "berth"), nil
}

func databaseIn(folder string) string { return filepath.Join(folder, "berth.db") }

// openStore opens the state for writing, and makes it if there is none.
func openStore(ctx context.Context, folder string) (*sqlite.Store, error) {
	s, err := sqlite.Open(ctx, sqlite.Options{Path: databaseIn(folder)})
	if err != nil {
		return nil, &codeError{exitNoService, err}
	}
	return s, nil
}

// readStore opens the state beside whoever writes it.
func readStore(ctx context.Context, flag string) (store.Store, string, error) {
	folder, err := stateFolder(flag)
	if err != nil {
		return nil, "", &codeError{exitNoService, err}
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: databaseIn(folder), ReadOnly: true})
	if err != nil {
		return nil, "", &codeError{exitNoService, err}
	}
	return s, folder, nil
}
