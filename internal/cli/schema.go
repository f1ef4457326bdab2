package cli

import (
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/explain"
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
	{"why", "berth why -o json, of a workload or a pod", reflect.TypeFor[explain.Report]()},
	{"why-node", "berth why node/NAME -o json", reflect.TypeFor[explain.NodeReport]()},
	{"why-fleet", "berth why nodes -o json, and --summary", reflect.TypeFor[explain.Fleet]()},
	{"why-pending", "berth why --pending -o json", reflect.TypeFor[explain.Pending]()},
}

// schemaNames are those of schemas.
func schemaNames() []string {
	names := make([]string, len(schemas))
	for i, s := range schemas {
		names[i] = s.name
	}
	return names
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema " + strings.Join(schemaNames(), "|"),
		Short: "Print the JSON Schema of a file, for editors, or of what berth why prints",
		Long: `Print the JSON Schema (2020-12) of the pipeline file, of the operator file, or of what berth why prints with
-o json. Editors complete and check files with the first two; berth validate checks more than a schema can say.`,
		Example: `  berth schema pipeline > .berth/pipeline.schema.json
  # and as the first line of a pipeline file, for editors with a YAML language server:
  # yaml-language-server: $schema=pipeline.schema.json`,
		ValidArgs: schemaNames(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf(cmd, "name one schema: %s", finding.Either(schemaNames()))
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
			hint := finding.DidYouMean(args[0], known, "there are "+strings.Join(schemaNames(), ", "))
			return usageErrorf(cmd, "no schema %q: %s", args[0], hint)
		},
	}
}
