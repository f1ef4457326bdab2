// Package cli is the command line of berth: one file per command.
//
// It promises that output goes to stdout and complaints to stderr, that the exit code says
// what kind of end it was (exit.go), and that a command line which can't be understood names
// the word at fault, the nearest known one, and what to type next.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/finding"
)

// Main runs the command line args, without the program's name, and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	cmd, err := root.ExecuteC()
	if err != nil && !started && !errors.As(err, new(*usageError)) {
		err = usageErrorf(cmd, "%v", err) // of cobra's own completion commands
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintf(stderr, "berth: %v\n", err)
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "berth",
		Short: "Run pipelines as pods in a shared Kubernetes cluster",
		Long: `Berth runs pipelines as pods in a Kubernetes cluster that it shares with other teams.

The operator's file says where pods may run, a pipeline's steps ask for it by name, and every value of a pod
has an origin that can be looked up.`,
		Example: `  berth run .berth/release.yaml --operator operator.yaml
  berth why -A --pending
  berth render .berth/release.yaml --operator operator.yaml --origins
  berth check --operator operator.yaml --nodes nodes.yaml`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") { // as kubectl's plugins are called
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl berth"}
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.AddCommand(newRun(), newResume(), newRuns(), newShow(), newLogs(), newValidate(), newRender(), newProfiles(), newCheck(), newWhy(), newSchema(), newVersion())
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.HasSubCommands() {
			group(cmd)
		}
	}
	return root
}

// group makes a command of commands print its help when it is called alone. Cobra would print
// it for an unknown command as well, and exit with 0.
func group(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// newHelp replaces cobra's own help command, which answers an unknown topic with exit code 0.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args[0])
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// noArgs is for commands that take flags alone.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageErrorf(cmd, "unexpected argument %q: %s takes flags only", args[0], cmd.CommandPath())
}

func unknownCommand(parent *cobra.Command, name string) error {
	var known []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	if near, ok := finding.Nearest(name, known); ok {
		return usageErrorf(parent, "unknown command %q: did you mean %q?", name, parent.CommandPath()+" "+near)
	}
	return usageErrorf(parent, "unknown command %q", name)
}

// flagError turns what pflag says of a flag into a usage error.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageErrorf(cmd, "%v", err)
	}
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasSubCommands() {
		return unknownCommand(cmd, args[0]) // the flag is that command's business
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return usageErrorf(cmd, "unknown flag -%s", name)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near, ok := finding.Nearest(name, known); ok {
		return usageErrorf(cmd, "unknown flag --%s: did you mean --%s?", name, near)
	}
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return usageErrorf(cmd, "unknown flag --%s: did you mean %q?", name, c.CommandPath())
		}
	}
	return usageErrorf(cmd, "unknown flag --%s", name)
}
