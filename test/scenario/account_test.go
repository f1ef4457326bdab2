package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// shownRun is what `berth show -o json` says of a run, as far as an account has it.
type shownRun struct {
	ID     string
	Status string
	Steps  []struct {
		ID, Status string
		Waiting    *run.Waiting
		Outcome    *run.Outcome
		Outputs    map[string]string
		Attempts   []run.Attempt
	}
}

// newest asks for the newest run that is on record.
func newest(state string) (id string, err error) {
	out, err := ask("runs", "--state", state, "-o", "json")
	if err != nil {
		return "", err
	}
	var list struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal(out, &list); err != nil || len(list.Runs) == 0 {
		return "", fmt.Errorf("no run: %w\n%s", err, out)
	}
	return list.Runs[0].ID, nil
}

// shown asks how the newest run is.
func shown(state string) (*shownRun, error) {
	id, err := newest(state)
	if err != nil {
		return nil, err
	}
	out, err := ask("show", id, "--state", state, "-o", "json")
	if err != nil {
		return nil, err
	}
	r := &shownRun{}
	return r, json.Unmarshal(out, r)
}

// account says how a run came out, in words that are the same each time and wherever it ran:
//
//	run failed
//	build     succeeded  success/completed  digest=1
//	  | what it wrote
//	test      failed     failure/exit_code  2 attempts: lost/preempted, failure/exit_code
//	  exit code 3
//	  waited: pool_full
func account(state string, events []run.Entry, mask func(string) string) (string, error) {
	r, err := shown(state)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s\n", r.Status)
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s %s", s.ID, s.Status)
		if s.Outcome != nil {
			fmt.Fprintf(&b, " %s", ended(s.Outcome))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
			fmt.Fprintf(&b, " %s=%s", name, s.Outputs[name])
		}
		if n := len(s.Attempts); n > 1 {
			fmt.Fprintf(&b, "  %d attempts:", n)
			for _, a := range s.Attempts {
				fmt.Fprintf(&b, " %s", ended(a.Outcome))
			}
		}
		b.WriteString("\n")
		// Why a command can't be started every runtime says in its own words.
		if s.Outcome != nil && s.Outcome.Message != "" && s.Outcome.Reason != reason.StartError {
			fmt.Fprintf(&b, "  %s\n", mask(s.Outcome.Message))
		}
		if why := waited(events, s.ID); len(why) > 0 {
			fmt.Fprintf(&b, "  waited: %s\n", strings.Join(why, ", "))
		}
		if len(s.Attempts) == 0 {
			continue
		}
		log, err := ask("logs", r.ID, s.ID, "--state", state)
		if err != nil {
			continue // there is none
		}
		for line := range strings.Lines(string(log)) {
			fmt.Fprintf(&b, "  | %s\n", strings.TrimRight(mask(line), "\n"))
		}
	}
	return b.String(), nil
}

func ended(o *run.Outcome) string {
	switch {
	case o == nil:
		return "-"
	case o.Class == "":
		return string(o.Reason)
	}
	return string(o.Class) + "/" + string(o.Reason)
}

// chancy are reasons that a step may have for a moment, or not.
var chancy = []reason.Code{reason.Requesting, reason.Unscheduled, reason.Volumes, reason.Initializing, reason.Starting,
	reason.PreviousNotGone, reason.Overloaded, reason.Unschedulable}

// waited gives the reasons that a step waited for, each once.
func waited(events []run.Entry, step string) []string {
	var why []string
	for _, e := range events {
		ready := e.Status == string(run.StepReady) || e.Status == string(run.StepStarting) || e.Status == string(run.StepPending)
		if e.Kind == run.KindStep && e.Step == step && ready && e.Reason != "" && !slices.Contains(chancy, e.Reason) && !slices.Contains(why, string(e.Reason)) {
			why = append(why, string(e.Reason))
		}
	}
	return why
}
