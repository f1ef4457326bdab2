package cli

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/explain"
)

// nodeView shows why a node can't be emptied.
type nodeView struct{ r *explain.NodeReport }

func (v nodeView) data() any { return v.r }

func (v nodeView) page(bool) whyPage {
	leaving, held := 0, 0
	for _, p := range v.r.Pods {
		if p.Stays {
			continue
		}
		leaving++
		if v.stopped(p) {
			held++
		}
	}
	p := whyPage{Title: v.title(leaving, held)}
	p.Lead = append(p.Lead, machineText(v.r.Now)+"; requested: "+amounts(v.r.Requested), v.together(leaving))
	p.Sections = append(p.Sections, v.engines(), v.pods())
	if len(v.r.Constraints) > 0 {
		p.Sections = append(p.Sections, constraintSection("What they are", v.r.Constraints))
	}
	p.Sections = append(p.Sections, unknownSection(v.r.NotKnown))
	return p
}

// stopped says whether something stops the pod that is not merely a cost.
func (v nodeView) stopped(p explain.PodOnNode) bool {
	for _, i := range p.HeldBy {
		if v.r.Constraints[i].Hardness == "hard" {
			return true
		}
	}
	return false
}

func (v nodeView) title(leaving, held int) string {
	title := "node/" + v.r.Subject.Name
	own := false
	for _, e := range v.r.Engines {
		own = own || len(e.HeldBy) > 0
	}
	switch {
	case leaving == 0 && !own:
		return title + ": is empty, but for what goes with it"
	case held == 0 && own:
		return title + ": its pods could go, and the node itself is not to be removed"
	case held == 0:
		return fmt.Sprintf("%s: nothing that is known holds its %s", title, plural(leaving, "pod"))
	}
	return fmt.Sprintf("%s: can't simply be emptied, %d of %d pods %s held", title, held, leaving, are(held))
}

func (v nodeView) together(leaving int) string {
	switch t := v.r.Together; {
	case leaving == 0:
		return "there is nothing to move"
	case !t.Known:
		return "whether the other nodes could take its pods is not known: " + v.whyUnknown()
	case t.Fit:
		return "the other nodes could take all of its pods at once"
	default:
		names := make([]string, len(t.Homeless))
		for i, h := range t.Homeless {
			names[i] = h.Name
		}
		return fmt.Sprintf("the other nodes could not take all of its pods at once: no place for %s", someOf(names, 5))
	}
}

func (v nodeView) whyUnknown() string {
	for _, u := range v.r.NotKnown {
		return u.What + ", " + u.Why
	}
	return v.r.Together.Note
}

func (v nodeView) engines() whySection {
	s := whySection{Title: "Who could empty it"}
	for _, e := range v.r.Engines {
		i := whyItem{Mark: string(e.Engine), Text: "nothing that is known stops it"}
		if len(e.HeldBy) > 0 {
			i.Text = "stopped by " + v.codes(e.HeldBy)
		}
		s.Items = append(s.Items, i)
	}
	return s
}

// codes names constraints shortly.
func (v nodeView) codes(indexes []int) string {
	var names []string
	seen := map[string]bool{}
	for _, i := range indexes {
		c := v.r.Constraints[i]
		name := string(c.Code)
		if c.Source.Name != "" {
			name += " (" + c.Source.Name + ")"
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return someOf(names, 6)
}

func (v nodeView) pods() whySection {
	s := whySection{Title: "Its pods"}
	stays := 0
	for _, p := range v.r.Pods {
		if p.Stays {
			stays++
			continue
		}
		i := whyItem{Mark: p.Name, Text: p.Workload.String()}
		if p.NoRoom {
			i.Text += ": no other node has room for it"
		} else if p.Elsewhere == 0 {
			i.Text += ": fits no other node"
		} else {
			i.Text += fmt.Sprintf(": fits %s", plural(p.Elsewhere, "other node"))
		}
		for _, n := range p.HeldBy {
			c := v.r.Constraints[n]
			i.Lines = append(i.Lines, string(c.Code)+": "+c.Message)
		}
		s.Items = append(s.Items, i)
	}
	if stays > 0 {
		s.Note = fmt.Sprintf("%s of DaemonSets, or static, which go with it", plural(stays, "pod"))
	}
	return s
}

func (v nodeView) records() [][]string {
	rows := [][]string{append([]string{"node", "pod_namespace", "pod", "workload", "stays", "elsewhere"}, constraintHeader...)}
	for _, p := range v.r.Pods {
		start := []string{v.r.Subject.Name, p.Namespace, p.Name, p.Workload.String(), fmt.Sprint(p.Stays), fmt.Sprint(p.Elsewhere)}
		if len(p.HeldBy) == 0 {
			rows = append(rows, append(start, strings.Split(strings.Repeat(",", len(constraintHeader)-1), ",")...))
		}
		for _, i := range p.HeldBy {
			rows = append(rows, append(append([]string{}, start...), constraintRecord(v.r.Constraints[i])...))
		}
	}
	return rows
}
