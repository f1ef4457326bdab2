// Package command is the command line of berth-observer.
//
// It promises what package cli does for berth: payloads go to stdout and complaints to stderr, the exit code says
// what kind of end it was, and a command line that can't be understood names the nearest known word.
package command

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/finding"
)

// Exit codes, those of berth.
const (
	exitOK        = 0
	exitFailed    = 1 // what was asked could not be done
	exitInvalid   = 2 // a file or a flag is invalid
	exitNoService = 4 // cluster, disk, network
)

// version is set by the linker in a release: -X github.com/berthdev/berth/internal/observer/command.version=v1.2.3
var version string

func buildVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return b.Main.Version
	}
	return "devel"
}

// Main runs the command line args, without the program's name, and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var coded *codeError
	switch {
	case errors.As(err, &coded):
	case !started:
		coded = &codeError{exitInvalid, fmt.Errorf("%w\nType \"berth-observer --help\" for what it takes", err)}
	default:
		coded = &codeError{exitFailed, err}
	}
	if coded.err != nil {
		fmt.Fprintf(stderr, "berth-observer: %v\n", coded.err)
	}
	return coded.code
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

func newRoot() *cobra.Command {
	root := newRun()
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newPreview(), newExplain(), newSchema(), newVersion())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var known []string
		for _, c := range cmd.Commands() {
			known = append(known, c.Name())
		}
		return fmt.Errorf("unknown command %q: %s", args[0], finding.DidYouMean(args[0], known, "there are preview, explain-record, schema and version"))
	}
	return root
}

// flagError names the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near, ok := finding.Nearest(unknown.GetSpecifiedName(), known); ok {
			return fmt.Errorf("unknown flag --%s: did you mean --%s?", unknown.GetSpecifiedName(), near)
		}
	}
	return err
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "berth-observer "+buildVersion())
			return err
		},
	}
}
