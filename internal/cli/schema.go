package cli

import (
	"reflect"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/source"
)

// schemas has what there is a JSON Schema of.
var schemas = []struct {
	name, title string
	of          reflect.Type
}{
	{"pipeline", "Berth pipeline", reflect.TypeFor[pipeline.Pipeline]()},
	{"operator", "Berth operator file", reflect.TypeFor[profile.Document]()},
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema pipeline|operator",
		Short: "Print the JSON Schema of a file, for editors",
		Long: `Print the JSON Schema (2020-12) of the pipeline file or of the operator file. Editors complete and
check files with it; berth validate checks more than a schema can say.`,
		Example: `  berth schema pipeline > .berth/pipeline.schema.json
  # and as the first line of a pipeline file, for editors with a YAML language server:
  # yaml-language-server: $schema=pipeline.schema.json`,
		ValidArgs: []string{"pipeline", "operator"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf(cmd, "name one schema: pipeline or operator")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var known []string
			for _, s := range schemas {
				if s.name == args[0] {
					return printJSON(cmd.OutOrStdout(), source.Schema(s.of, s.title))
				}
				known = append(known, s.name)
			}
			hint := finding.DidYouMean(args[0], known, "there are pipeline and operator")
			return usageErrorf(cmd, "no schema %q: %s", args[0], hint)
		},
	}
}
