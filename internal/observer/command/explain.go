package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/observer/sentence"
)

func newExplain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain-record FILE",
		Short: "Say in words what a payload says",
		Long: `Print a payload's records as sentences: what was asked for, where it runs, and what forbids another
node. FILE is a payload of any kind, or several of them; - is standard input.

Exit codes: 0; 2 the file is no payload.`,
		Example: `  berth-observer explain-record workload_metadata.json
  berth-observer --once | berth-observer explain-record -`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var r io.Reader = cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return invalid(err)
				}
				defer f.Close()
				r = f
			}
			if err := sentence.Explain(cmd.OutOrStdout(), r); err != nil {
				return invalid(fmt.Errorf("%s: %w", args[0], err))
			}
			return nil
		},
	}
}
