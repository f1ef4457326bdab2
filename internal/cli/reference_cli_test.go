package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const exitCodes = `
## Exit codes

| code | meaning |
|---|---|
| %d | all is well |
| %d | a check found something |
| %d | an input file or a flag is invalid; this wins over the next one |
| %d | refused by the operator's rules |
| %d | infrastructure: cluster, store, network |
`

// cliReference has every command.
func cliReference() string {
	b := &strings.Builder{}
	b.WriteString(generatedFrom("the commands in internal/cli"))
	b.WriteString("# Commands\n\n`berth COMMAND --help` prints the same. Output goes to standard output, everything else to standard\n" +
		"error. Colours appear on a terminal only, and not if `NO_COLOR` is set.\n")
	fmt.Fprintf(b, exitCodes, exitOK, exitFailed, exitInvalid, exitRefused, exitNoService)
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() != "help" {
			writeCommand(b, cmd)
		}
	}
	return b.String()
}

func writeCommand(b *strings.Builder, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	if cmd.Name() == "completion" {
		var shells []string
		for _, c := range cmd.Commands() {
			shells = append(shells, c.Name())
		}
		fmt.Fprintf(b, "%s: %s. `berth completion SHELL --help` says how to load it.\n", cmd.Short, strings.Join(shells, ", "))
		return
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(b, "    %s\n\n%s\n", cmd.UseLine(), text)
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", dedent(cmd.Example))
	}
	fmt.Fprintf(b, "\nFlags:\n\n```\n%s```\n", cmd.LocalFlags().FlagUsages())
}

func dedent(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
