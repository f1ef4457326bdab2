// Package cli is the commands of devplane.
//
// `devplane up` is two processes. The guard, which the caller started, starts the supervisor and
// waits. The supervisor starts the parts. Each notices when the other dies, whatever the signal,
// and then ends and removes everything: the guard as the subreaper of all that the supervisor
// left, the supervisor because a pipe from the guard closes.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/devplane/internal/instance"
	"github.com/berthdev/berth/devplane/internal/plane"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Programs are what `devplane part NAME` runs: each takes its arguments and does not return
// before it ends.
type Programs = map[string]func(args []string) (exitCode int)

// Exit codes.
const (
	exitNothing        = 1 // no devplane runs where one is asked for
	exitInput          = 2 // the node file or a flag is invalid
	exitInfrastructure = 4 // a part could not be started or kept running
)

// failure is an error with an exit code of its own.
type failure struct {
	code int
	err  error
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

func input(err error) error {
	if err == nil {
		return nil
	}
	return failure{exitInput, err}
}

// Main runs a command line and returns the exit code. version is Kubernetes' version.
func Main(args []string, version string, programs Programs) int {
	if len(args) > 1 && args[0] == "part" {
		return part(args[1], args[2:], programs)
	}
	root := &cobra.Command{
		Use:   "devplane",
		Short: "A real Kubernetes cluster on one machine",
		Long: "devplane runs Kubernetes " + version + ", compiled from source, as plain processes: etcd, API server,\n" +
			"scheduler, controller manager, and nodes of three kinds (real, process, scale).",
		Example: "  devplane up --nodes nodes.yaml --detach\n" +
			"  export KUBECONFIG=$(devplane kubeconfig)\n" +
			"  kubectl get nodes\n" +
			"  devplane down",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return input(fmt.Errorf("unknown command %q%s; see: devplane --help", args[0], suggest(c, args[0])))
	}
	root.Args = cobra.ArbitraryArgs // so that RunE is asked
	root.SuggestionsMinimumDistance = 2
	// Kubernetes' packages register a flag of their own for every command.
	_ = pflag.CommandLine.MarkHidden("version")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return input(fmt.Errorf("%w; see: %s --help", err, c.CommandPath()))
	})
	root.AddCommand(upCommand(version), superviseCommand(version), versionCommand(version), downCommand(), statusCommand(), kubeconfigCommand(), faultCommand())
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "devplane:", err)
	var f failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitInfrastructure
}

func suggest(c *cobra.Command, word string) string {
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return ""
}

func part(name string, args []string, programs Programs) int {
	if name == "nodes" {
		return nodes(args)
	}
	run, ok := programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "devplane: no part %q\n", name)
		return exitInput
	}
	return run(args)
}

// noArgs refuses arguments with the code for bad input.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return input(fmt.Errorf("%s takes no arguments; got %q", c.CommandPath(), args))
	}
	return nil
}

// find returns the devplane that runs in dir.
func find(dir string) (*instance.Instance, error) {
	in, err := plane.Find(dir)
	if err != nil {
		return nil, failure{exitNothing, err}
	}
	return in, nil
}

func dirFlag(c *cobra.Command) *string {
	return c.Flags().String("dir", defaultDir(), "folder of the devplane")
}

// defaultDir follows the XDG base directory specification.
func defaultDir() string {
	if d := os.Getenv("XDG_STATE_HOME"); d != "" {
		return filepath.Join(d, "devplane")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), "devplane")
	}
	return filepath.Join(home, ".local", "state", "devplane")
}

func outputFlag(c *cobra.Command) *string {
	return c.Flags().StringP("output", "o", "table", "table or json")
}

func checkOutput(o string) error {
	if o != "table" && o != "json" {
		return input(fmt.Errorf("-o %s: table and json are possible", o))
	}
	return nil
}

var stdout io.Writer = os.Stdout
