package run

import (
	"strings"

	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
)

// blame adds to a sentence what of the step's pod it is about, and which layer set that: whoever reads it need not look
// for the place that has to change.
func blame(s *plan.Step, code reason.Code, message string) string {
	switch code {
	case reason.OOMKilled:
		if by := asked(s, plan.AskLimit); len(by) > 0 {
			return message + " of " + by[0].What + ", set by " + by[0].By + "; raise resources.memory"
		}
	case reason.Evicted:
		if by := asked(s, plan.AskDisk); len(by) > 0 && strings.Contains(message, "ephemeral") {
			return strings.TrimRight(message, " .") + ", set by " + by[0].By
		}
	case reason.Unschedulable:
		return unplaced(s, message)
	}
	return message
}

// unplaced names the layers behind the scheduler's words.
func unplaced(s *plan.Step, message string) string {
	var wanted []plan.Ask
	if strings.Contains(message, "node affinity/selector") {
		wanted = asked(s, plan.AskNode)
	}
	for _, a := range asked(s, plan.AskRequest) {
		name, _, _ := strings.Cut(a.What, " ")
		if strings.Contains(message, "Insufficient "+name) {
			wanted = append(wanted, a)
		}
	}
	if len(wanted) == 0 {
		return message
	}
	parts := make([]string, len(wanted))
	for i, a := range wanted {
		parts[i] = a.What + " comes from " + a.By
	}
	return strings.TrimRight(message, " .") + ". " + strings.Join(parts, ", ")
}

func asked(s *plan.Step, of plan.AskOf) []plan.Ask {
	var all []plan.Ask
	for _, a := range s.Asks {
		if a.Of == of {
			all = append(all, a)
		}
	}
	return all
}
