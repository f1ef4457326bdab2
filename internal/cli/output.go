package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// format is the value of --output. Only the formats that the command knows are accepted.
type format struct {
	value string
	known []string
}

// addFormat gives cmd the flag --output. The first known format is the default.
func addFormat(cmd *cobra.Command, known ...string) *format {
	f := &format{value: known[0], known: known}
	cmd.Flags().VarP(f, "output", "o", "output format: "+strings.Join(known, " or "))
	return f
}

func (f *format) String() string { return f.value }

func (f *format) Type() string { return "format" }

func (f *format) Set(s string) error {
	if !slices.Contains(f.known, s) {
		return fmt.Errorf("must be %s", strings.Join(f.known, " or "))
	}
	f.value = s
	return nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
