package cli

import (
	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/reason"
)

// workloadView shows a workload or a pod.
type workloadView struct{ r *explain.Report }

func (v workloadView) data() any { return v.r }

const (
	mostNodeGroups = 6 // of nodes, unless all are asked for
	mostReasons    = 3 // of a group, likewise
	mostWaiting    = 3 // pods whose waiting is quoted, likewise
)

func (v workloadView) page(all bool) whyPage {
	p := whyPage{Title: v.title(), Lead: v.lead(all)}
	p.Sections = append(p.Sections, v.unlocks()...)
	if hard := ofHardness(v.r.Constraints, reason.Hard); len(hard) > 0 {
		p.Sections = append(p.Sections, constraintSection("What says where it may run", hard))
	}
	if soft := ofHardness(v.r.Constraints, reason.Soft); len(soft) > 0 {
		p.Sections = append(p.Sections, constraintSection("What is preferred or worth knowing, and stops nothing", soft))
	}
	p.Sections = append(p.Sections, v.nodes(all)...)
	p.Sections = append(p.Sections, v.moving()...)
	p.Sections = append(p.Sections, unknownSection(v.r.NotKnown))
	return p
}

func constraintSection(title string, all []explain.Constraint) whySection {
	s := whySection{Title: title}
	for _, c := range all {
		s.Items = append(s.Items, constraintItem(c))
	}
	return s
}

// moving is what happens if someone wants its nodes.
func (v workloadView) moving() []whySection {
	if len(v.r.Moving) == 0 {
		return []whySection{{Title: "Moving it", Items: []whyItem{{Text: "nothing that is known stops its eviction"}}}}
	}
	var sections []whySection
	if hard := ofHardness(v.r.Moving, reason.Hard); len(hard) > 0 {
		s := whySection{Title: "What stops it from being moved"}
		for _, c := range hard {
			i := constraintItem(c)
			i.Lines = append(i.Lines, "stops "+enginesText(c.Engines))
			s.Items = append(s.Items, i)
		}
		sections = append(sections, s)
	}
	if soft := ofHardness(v.r.Moving, reason.Soft); len(soft) > 0 {
		sections = append(sections, constraintSection("What moving it costs", soft))
	}
	return sections
}

func (v workloadView) records() [][]string {
	rows := [][]string{append([]string{"subject", "part"}, constraintHeader...)}
	for _, part := range []struct {
		name string
		all  []explain.Constraint
	}{{"constraint", v.r.Constraints}, {"moving", v.r.Moving}} {
		for _, c := range part.all {
			rows = append(rows, append([]string{v.r.Subject.String(), part.name}, constraintRecord(c)...))
		}
	}
	return rows
}
