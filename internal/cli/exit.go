package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes, the same for every command.
const (
	exitOK        = 0
	exitFailed    = 1   // the run failed, or a check found something
	exitInvalid   = 2   // an input file or a flag is invalid; nothing was tried
	exitRefused   = 3   // refused by the operator's rules
	exitNoService = 4   // infrastructure: cluster, store, network
	exitCancelled = 130 // by the user
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

// codeError ends the program with a code. Without an error, everything there is to say has been said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// said ends the program with a code and no further words.
func said(code int) error {
	if code == exitOK {
		return nil
	}
	return &codeError{code: code}
}

func exitCode(err error) int {
	var usage *usageError
	var coded *codeError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitInvalid
	case errors.As(err, &coded):
		return coded.code
	default:
		return exitFailed
	}
}
