package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
)

// whyView is an answer of berth why.
type whyView interface {
	// data is what -o json and -o yaml print.
	data() any
	// page is what -o table and -o html show.
	page(all bool) whyPage
	// records are what -o csv prints, the header first.
	records() [][]string
}

// whyPage is an answer for people.
type whyPage struct {
	Title    string
	Lead     []string // sentences under the title
	Sections []whySection
}

// whySection is a part of it.
type whySection struct {
	Title string
	Items []whyItem
	Note  string // under the items
}

// whyItem is a line with what belongs to it.
type whyItem struct {
	Mark  string // short, in a column of its own; may be empty
	Text  string
	Lines []string // below, indented
}

func (f *whyFlags) print(cmd *cobra.Command, v whyView) error {
	w := cmd.OutOrStdout()
	switch f.output.value {
	case "json":
		return printJSON(w, v.data())
	case "yaml":
		return printYAML(w, v.data())
	case "csv":
		c := csv.NewWriter(w)
		if err := c.WriteAll(v.records()); err != nil {
			return err
		}
		return c.Error()
	case "html":
		return v.page(true).html(w)
	}
	v.page(f.allReasons).text(w, colours(w))
	return nil
}

// printYAML has the same keys as printJSON, in the same order.
func printYAML(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil { // JSON is YAML
		return err
	}
	blockStyle(&n)
	return yaml.NewEncoder(w).Encode(&n)
}

func blockStyle(n *yaml.Node) {
	if len(n.Content) > 0 {
		n.Style &^= yaml.FlowStyle
	}
	if n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// text writes the page for a terminal.
func (p whyPage) text(w io.Writer, colour bool) {
	strong, faint := func(s string) string { return s }, func(s string) string { return s }
	if colour {
		strong, faint = func(s string) string { return bold + s + plain }, func(s string) string { return dim + s + plain }
	}
	fmt.Fprintln(w, strong(p.Title))
	for _, line := range p.Lead {
		fmt.Fprintln(w, "  "+line)
	}
	for _, s := range p.Sections {
		fmt.Fprintln(w, "\n"+strong(s.Title))
		width := 0
		for _, i := range s.Items {
			width = max(width, utf8.RuneCountInString(i.Mark))
		}
		for _, i := range s.Items {
			indent := "  "
			if width > 0 {
				fmt.Fprintf(w, "  %s%s  %s\n", i.Mark, strings.Repeat(" ", width-utf8.RuneCountInString(i.Mark)), i.Text)
				indent = strings.Repeat(" ", width+4)
			} else {
				fmt.Fprintln(w, "  "+i.Text)
				indent += "  "
			}
			for _, line := range i.Lines {
				fmt.Fprintln(w, faint(indent+line))
			}
		}
		if s.Note != "" {
			fmt.Fprintln(w, faint("  "+s.Note))
		}
	}
}
