package explain

import (
	"slices"

	"github.com/berthdev/berth/internal/explain/fit"
)

// unseen is what no API shows.
var unseen = []Unread{
	{What: "architectures of its images", Why: "no API shows it"},
	{What: "the scheduler's configuration and default spreading", Why: "no API shows it"},
	{What: "flags of autoscalers and descheduler", Why: "no API shows it"},
}

// notKnown is what could not be read and what no API shows. It is incomplete if there is any of the former.
func (c *Cluster) notKnown(verdicts []fit.Verdict) (all []Unread, incomplete bool) {
	all = []Unread{}
	add := func(u Unread) {
		if !slices.ContainsFunc(all, func(o Unread) bool { return o.What == u.What }) {
			all = append(all, u)
		}
	}
	for _, u := range c.facts.Unread {
		add(u)
	}
	for i := range verdicts {
		for _, u := range verdicts[i].NotKnown {
			add(Unread{What: u.What, Why: u.Why})
		}
	}
	if c.facts.Nodes == nil {
		add(Unread{What: "nodes", Why: "could not be read"})
	}
	if c.facts.Budgets == nil {
		add(Unread{What: "poddisruptionbudgets", Why: "could not be read"})
	}
	incomplete = len(all) > 0
	for _, u := range unseen {
		add(u)
	}
	return all, incomplete
}
