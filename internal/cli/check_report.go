package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
)

// checked is what check -o json prints.
type checked struct {
	Profiles []checkedProfile `json:"profiles"`
	Findings finding.List     `json:"findings"` // all, those of profiles among them

	nodes     int
	namespace string // of the dry runs; empty if there are none
}

// print writes the report, and ends the program with the code.
func (r *checked) print(cmd *cobra.Command, in *inputs, output string, code int) error {
	if output == "json" {
		if err := printJSON(cmd.OutOrStdout(), r); err != nil {
			return err
		}
		return said(code)
	}
	printFindings(cmd.ErrOrStderr(), r.Findings, in.sources)
	_, counts, _ := strings.Cut(summary(1, r.Findings), ": ")
	if len(r.Profiles) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "invalid: "+counts)
		return said(code)
	}
	r.table(cmd.OutOrStdout())
	held := plural(len(r.Profiles), "sample pod") + " against " + plural(r.nodes, "node")
	if r.namespace != "" {
		held += ", dry runs in namespace " + r.namespace
	}
	fmt.Fprintln(cmd.ErrOrStderr(), held+": "+counts)
	return said(code)
}

// How much of a long list a table shows.
const (
	mostNames  = 4
	mostGroups = 6
)

func (r *checked) table(w io.Writer) {
	t := &table{}
	head := []string{"PROFILE", "NODES"}
	if r.namespace != "" {
		head = append(head, "DRY RUN")
	}
	t.row(append(head, "WHERE")...)
	for i := range r.Profiles {
		p := &r.Profiles[i]
		first := []string{p.Name, fmt.Sprintf("%d of %d", len(p.Nodes), r.nodes)}
		if p.Baseline {
			first[0] = "(baseline)"
		}
		if r.namespace != "" {
			first = append(first, p.DryRun.short())
		}
		for _, line := range p.lines() {
			t.row(append(first, line)...)
			first = make([]string, len(first))
		}
	}
	t.write(w, "")
}

// short is the dry run in a word. d is nil if there was none, since the pod could not be composed.
func (d *dryRun) short() string {
	switch {
	case d == nil:
		return "-"
	case d.Accepted:
		return "accepted"
	case strings.HasPrefix(d.Message, notStored):
		return "loses fields"
	default:
		return "refused"
	}
}

// lines says where the profile can land, and what stops it elsewhere.
func (p *checkedProfile) lines() []string {
	on := "on " + someOf(p.Nodes, mostNames)
	if len(p.Nodes) == 0 {
		on = "on no node"
		if p.mayBeEmpty {
			on += " now, as it may be (may_be_empty)"
		}
	}
	lines := []string{on}
	if len(p.EmptyPools) > 0 {
		lines = append(lines, "on "+someOf(p.EmptyPools, mostNames)+" once scaled up from zero")
	}
	for i, b := range p.Blocked {
		if i == mostGroups {
			rest := 0
			for _, b := range p.Blocked[i:] {
				rest += len(b.Nodes)
			}
			lines = append(lines, fmt.Sprintf("not on %d more, for other reasons: -o json has them", rest))
			break
		}
		line := "not on " + someOf(b.Nodes, mostNames) + ":"
		if len(b.Reasons) == 1 {
			lines = append(lines, line+" "+b.Reasons[0].Text)
			continue
		}
		lines = append(lines, line)
		for _, r := range b.Reasons {
			lines = append(lines, "  "+r.Text)
		}
	}
	if p.DryRun != nil && !p.DryRun.Accepted {
		lines = append(lines, p.DryRun.Message)
	}
	return lines
}

// someOf names the first of a list, and counts the others.
func someOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
