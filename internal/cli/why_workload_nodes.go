package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/explain"
)

// unlocks are what would help.
func (v workloadView) unlocks() []whySection {
	closed := 0
	for _, n := range v.r.Nodes {
		if len(n.Reasons) > 0 {
			closed++
		}
	}
	if closed == 0 {
		return nil
	}
	s := whySection{Title: "What would open other nodes, each alone"}
	if len(v.r.Unlocks) == 0 {
		s.Title = "What would open other nodes"
		s.Note = fmt.Sprintf("no single rule and no pair of rules: each of the %s is closed for three reasons or more", plural(closed, "other node"))
		return []whySection{s}
	}
	if len(v.r.Unlocks[0].Without) > 1 {
		s.Title = "What would open other nodes: no rule alone, these pairs"
	}
	for _, u := range v.r.Unlocks {
		i := whyItem{Mark: "+" + plural(len(u.Nodes), "node")}
		var parts []string
		for _, n := range u.Without {
			c := v.r.Constraints[n]
			parts = append(parts, c.Message)
			i.Lines = append(i.Lines, fromText(c))
		}
		i.Text = "if not for: " + strings.Join(parts, "; and: ")
		note := someOf(u.Nodes, 4)
		switch {
		case u.Smaller == len(u.Nodes):
			note += " (smaller than the present one)"
		case u.Smaller > 0:
			note += fmt.Sprintf(" (%d of them smaller than the present one)", u.Smaller)
		}
		i.Lines = append(i.Lines, "opens "+note)
		s.Items = append(s.Items, i)
	}
	return []whySection{s}
}

// nodes groups nodes that are alike.
func (v workloadView) nodes(all bool) []whySection {
	if len(v.r.Nodes) == 0 {
		return nil
	}
	s := whySection{Title: "Nodes"}
	type group struct {
		names, lines []string
		mark         string
	}
	var groups []*group
	index := map[string]*group{}
	for _, n := range v.r.Nodes {
		mark, key := verdictWord(n), ""
		var lines []string
		for _, r := range n.Reasons {
			lines = append(lines, r.Message)
		}
		for _, u := range n.NotKnown {
			lines = append(lines, "not known: "+u)
		}
		key = mark + strings.Join(lines, "\n")
		g := index[key]
		if g == nil {
			g = &group{mark: mark, lines: lines}
			index[key] = g
			groups = append(groups, g)
		}
		g.names = append(g.names, n.Name)
	}
	order := map[string]int{"fits": 0, "not known": 1, "closed": 2}
	slices.SortStableFunc(groups, func(a, b *group) int {
		if d := order[a.mark] - order[b.mark]; d != 0 {
			return d
		}
		return len(b.names) - len(a.names)
	})
	for i, g := range groups {
		if i == mostNodeGroups && !all {
			s.Note = fmt.Sprintf("and %s that are closed for other reasons; --all-reasons shows them", plural(remaining(groups[i:], func(g *group) int { return len(g.names) }), "node"))
			break
		}
		item := whyItem{Mark: g.mark, Text: fmt.Sprintf("%s: %s", plural(len(g.names), "node"), someOf(g.names, 6)), Lines: g.lines}
		if all {
			item.Text = strings.Join(g.names, ", ")
		} else if len(g.lines) > mostReasons {
			item.Lines = append(slices.Clone(g.lines[:mostReasons]), fmt.Sprintf("and %d more reasons", len(g.lines)-mostReasons))
		}
		s.Items = append(s.Items, item)
	}
	return []whySection{s}
}

func remaining[T any](all []T, count func(T) int) int {
	n := 0
	for _, e := range all {
		n += count(e)
	}
	return n
}

func verdictWord(n explain.NodeVerdict) string {
	switch {
	case n.Fits:
		return "fits"
	case len(n.Reasons) > 0:
		return "closed"
	}
	return "not known"
}
