package cli

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/explain"
)

// pendingView shows the pods that wait.
type pendingView struct {
	p         *explain.Pending
	namespace string // empty for all
}

func (v pendingView) data() any { return v.p }

func (v pendingView) page(all bool) whyPage {
	where := "in all namespaces"
	if v.namespace != "" {
		where = "in " + v.namespace
	}
	p := whyPage{Title: fmt.Sprintf("%s %s, for %s", waiting(v.p.Pods), where, plural(len(v.p.Causes), "cause"))}
	if v.p.Pods == 0 {
		p.Title = "no pod waits " + where
	}
	for _, c := range v.p.Causes {
		s := whySection{Title: fmt.Sprintf("%s: %s", plural(c.Pods, "pod"), c.Message)}
		for i, w := range c.Workloads {
			if i == mostNodeGroups && !all {
				s.Note = fmt.Sprintf("and %s", plural(len(c.Workloads)-i, "more workload"))
				break
			}
			item := whyItem{Text: fmt.Sprintf("%s: %s", w.Workload, someOf(w.Pods, 3))}
			if w.Workload.Kind == "Pod" {
				item.Text = w.Workload.String()
			}
			if w.Scheduler != "" {
				item.Lines = append(item.Lines, "the cluster says: "+w.Scheduler)
			}
			also := w.Also
			if len(also) > mostReasons && !all {
				also = append(append([]string{}, also[:mostReasons]...), fmt.Sprintf("%d more", len(w.Also)-mostReasons))
			}
			for _, a := range also {
				item.Lines = append(item.Lines, "also: "+a)
			}
			s.Items = append(s.Items, item)
		}
		if c.Fix != "" {
			s.Items = append(s.Items, whyItem{Text: c.Fix})
		}
		s.Items = append(s.Items, whyItem{Text: "more: berth why " + askText(c.Workloads[0])})
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, unknownSection(v.p.NotKnown))
	return p
}

// askText is what to type to know more of a workload.
func askText(w explain.PendingOfCause) string {
	if w.Workload.Kind == explain.KindRun {
		return fmt.Sprintf("pod/%s -n %s", w.Pods[0], w.Workload.Namespace)
	}
	return fmt.Sprintf("%s/%s -n %s", strings.ToLower(w.Workload.Kind), w.Workload.Name, w.Workload.Namespace)
}

func (v pendingView) records() [][]string {
	rows := [][]string{{"code", "message", "fix", "workload_kind", "workload_namespace", "workload_name", "pod", "cluster_says"}}
	for _, c := range v.p.Causes {
		for _, w := range c.Workloads {
			for _, p := range w.Pods {
				rows = append(rows, []string{string(c.Code), c.Message, c.Fix, w.Workload.Kind, w.Workload.Namespace, w.Workload.Name, p, w.Scheduler})
			}
		}
	}
	return rows
}
