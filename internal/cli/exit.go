package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes, the same for every command.
const (
	exitOK      = 0
	exitFailed  = 1 // what was asked for was tried and failed
	exitInvalid = 2 // the command line is invalid; nothing was tried
)

// usageError is a command line that can't be understood.
type usageError struct {
	message string
	command string // whose help has the answer
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%s\nType \"%s --help\" for what it takes.", e.message, e.command)
}

func usageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...), command: cmd.CommandPath()}
}

func exitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitInvalid
	default:
		return exitFailed
	}
}
