package cli

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/explain"
)

// fleetOf explains the selected nodes, on all processors.
func fleetOf(c *explain.Cluster, selector labels.Selector) *explain.Fleet {
	classes := c.Classes(selector)
	held := make([]*explain.Held, len(classes))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				held[i] = c.Place(classes[i])
			}
		}()
	}
	for i := range classes {
		next <- i
	}
	close(next)
	workers.Wait()
	return c.Fleet(selector, classes, held)
}

// fleetView shows what holds nodes.
type fleetView struct {
	f       *explain.Fleet
	summary bool
}

func (v fleetView) data() any { return v.f }

const (
	mostRules      = 15 // unless all are asked for
	mostFleetNodes = 20 // groups, likewise
)

func (v fleetView) page(all bool) whyPage {
	held, nearly, nearlyHeld, stuck := 0, 0, 0, 0
	for _, n := range v.f.Nodes {
		if len(n.HeldBy) > 0 || n.NoRoom {
			held++
		}
		if n.NearlyEmpty {
			nearly++
			if len(n.HeldBy) > 0 {
				nearlyHeld++
			}
		}
		if n.NoRoom {
			stuck++
		}
	}
	p := whyPage{Title: fmt.Sprintf("%s: %d held, %d could be emptied one by one", plural(len(v.f.Nodes), "node"), held, len(v.f.Nodes)-held)}
	p.Lead = append(p.Lead, fmt.Sprintf("%s nearly empty (at most %.0f%% of cpu and memory requested), %d of them held by rules", plural(nearly, "node")+" "+are(nearly), 100*explain.NearlyEmpty, nearlyHeld))
	if stuck > 0 {
		p.Lead = append(p.Lead, fmt.Sprintf("%s a pod that has no room elsewhere, whatever the rules", plural(stuck, "node")+hasHave(stuck)))
	}
	p.Sections = append(p.Sections, v.joint(), v.rules(all))
	if !v.summary {
		p.Sections = append(p.Sections, v.nodes(all))
	}
	return whyPage{p.Title, p.Lead, append(p.Sections, unknownSection(v.f.NotKnown))}
}

func hasHave(n int) string {
	if n == 1 {
		return " has"
	}
	return " have"
}

func (v fleetView) joint() whySection {
	s := whySection{Title: "What frees most, together"}
	for _, j := range v.f.JointUnlock {
		i := whyItem{Mark: plural(j.Rules, "rule"), Text: fmt.Sprintf("%s %s: %s", holdWord(j.Rules), plural(len(j.Nodes), "node"), someOf(j.Nodes, 5))}
		for _, r := range j.Add {
			i.Lines = append(i.Lines, "and without "+v.ruleText(r))
		}
		if len(s.Items) == 0 {
			for k := range i.Lines {
				i.Lines[k] = strings.TrimPrefix(i.Lines[k], "and ")
			}
		}
		s.Items = append(s.Items, i)
	}
	if len(s.Items) == 0 {
		s.Note = "no rules hold a node that could otherwise be emptied"
	}
	return s
}

func holdWord(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

func (v fleetView) ruleText(i int) string {
	r := v.f.Rules[i]
	return fmt.Sprintf("%s of %s: %s", r.Code, r.Workload, r.Message)
}

func (v fleetView) rules(all bool) whySection {
	s := whySection{Title: "Rules, by the nearly empty nodes that they hold"}
	for n, r := range v.f.Rules {
		if n == mostRules && !all {
			s.Note = fmt.Sprintf("and %s; --all-reasons shows them", plural(len(v.f.Rules)-n, "more rule"))
			break
		}
		i := whyItem{Mark: fmt.Sprintf("%d of %d", r.NearlyEmpty, r.Holds), Text: v.ruleText(n)}
		i.Lines = append(i.Lines, fmt.Sprintf("%s; alone: %d; stops %s", fromText(r.Constraint), r.HoldsAlone, enginesText(r.Engines)))
		s.Items = append(s.Items, i)
	}
	if len(s.Items) == 0 {
		s.Note = "none"
	} else if s.Note == "" {
		s.Note = "\"1 of 3\": it holds 3 nodes, 1 of which is nearly empty; \"alone\": nodes that nothing else holds"
	}
	return s
}

// nodes groups nodes that the same rules hold.
func (v fleetView) nodes(all bool) whySection {
	s := whySection{Title: "Nodes, by what holds them"}
	index := map[string]int{}
	var names [][]string
	for _, n := range v.f.Nodes {
		key := fmt.Sprint(n.HeldBy, n.NoRoom)
		i, ok := index[key]
		if !ok {
			i = len(s.Items)
			index[key] = i
			item := whyItem{Text: "could be emptied"}
			if len(n.HeldBy) > 0 || n.NoRoom {
				item.Text = "held"
			}
			for _, r := range n.HeldBy {
				item.Lines = append(item.Lines, v.ruleText(r))
			}
			if n.NoRoom {
				item.Lines = append(item.Lines, "a pod has no room elsewhere")
			}
			s.Items = append(s.Items, item)
			names = append(names, nil)
		}
		names[i] = append(names[i], fmt.Sprintf("%s (%.0f%%, %s)", n.Name, 100*n.Requested, plural(n.Pods, "pod")))
	}
	most := 6
	if all {
		most = len(v.f.Nodes)
	}
	for i := range s.Items {
		s.Items[i].Text = fmt.Sprintf("%s: %s", s.Items[i].Text, someOf(names[i], most))
		s.Items[i].Mark = plural(len(names[i]), "node")
	}
	if len(s.Items) > mostFleetNodes && !all {
		s.Note = fmt.Sprintf("and %s; --all-reasons shows them", plural(len(s.Items)-mostFleetNodes, "more group"))
		s.Items = s.Items[:mostFleetNodes]
	}
	return s
}

func (v fleetView) records() [][]string {
	if v.summary {
		rows := [][]string{append([]string{"holds", "holds_alone", "nearly_empty", "workload"}, constraintHeader...)}
		for _, r := range v.f.Rules {
			rows = append(rows, append([]string{fmt.Sprint(r.Holds), fmt.Sprint(r.HoldsAlone), fmt.Sprint(r.NearlyEmpty), r.Workload.String()}, constraintRecord(r.Constraint)...))
		}
		return rows
	}
	rows := [][]string{{"node", "pool", "type", "zone", "arch", "requested", "pods", "nearly_empty", "no_room", "held_by"}}
	for _, n := range v.f.Nodes {
		var codes []string
		for _, r := range n.HeldBy {
			codes = append(codes, fmt.Sprintf("%s %s", v.f.Rules[r].Code, v.f.Rules[r].Workload))
		}
		rows = append(rows, []string{n.Name, n.Pool, n.Type, n.Zone, n.Arch, fmt.Sprintf("%.2f", n.Requested), fmt.Sprint(n.Pods), fmt.Sprint(n.NearlyEmpty), fmt.Sprint(n.NoRoom), strings.Join(codes, "; ")})
	}
	return rows
}
