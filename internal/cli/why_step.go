package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// explainStep says why a step of a run waits, from the record of runs.
func (f *whyFlags) explainStep(cmd *cobra.Command, q question, args []string) error {
	if len(f.files) > 0 {
		return usageErrorf(cmd, "runs are in the state folder, not in files: leave out -f")
	}
	s, _, err := readStore(cmd.Context(), f.state)
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := findRun(cmd.Context(), s, q.name)
	if err != nil {
		return notThere(err)
	}
	if len(args) == 1 {
		return f.print(cmd, stepView{report: waitReport(explain.Ref{Kind: explain.KindRun, Name: d.ID}, d.ID, d.State.Waiting), status: string(d.Status)})
	}
	step, state, err := findStep(d, strings.TrimPrefix(args[1], "step/"))
	if err != nil {
		return notThere(err)
	}
	v := stepView{report: waitReport(explain.Ref{Kind: "Step", Name: step.Name}, d.ID, state.Waiting), status: string(state.Status)}
	if a := state.Attempt; a != nil {
		v.report.Now.Pods = append(v.report.Now.Pods, explain.PodNow{Name: fmt.Sprintf("attempt %d", a.Number), Node: a.Node, Phase: string(a.Status)})
	}
	if state.Outcome != nil {
		v.outcome = state.Outcome.Message
	}
	return f.print(cmd, v)
}

// notThere turns "no such run or step", which is bad input elsewhere, into what it is here: the answer.
func notThere(err error) error {
	if exitCode(err) == exitInvalid {
		return &codeError{exitFailed, err}
	}
	return err
}

// waitReport has the reason of Berth's own as the only constraint.
func waitReport(subject explain.Ref, id string, w *run.Waiting) *explain.Report {
	r := &explain.Report{Subject: subject, Now: explain.Now{Replicas: 1, Requests: map[string]string{}, Pods: []explain.PodNow{}, Machines: []explain.Machine{}},
		Constraints: []explain.Constraint{}, Nodes: []explain.NodeVerdict{}, Unlocks: []explain.Unlock{}, Moving: []explain.Constraint{}, NotKnown: []explain.Unread{}}
	if w == nil {
		return r
	}
	r.Constraints = append(r.Constraints, explain.Constraint{Code: w.Reason, Hardness: reason.Hard, Scope: reason.ScopeWorkload, Actor: explain.Controller,
		Engines: []reason.Engine{}, Source: explain.Source{Ref: explain.Ref{Kind: explain.KindRun, Name: id}}, Message: w.Message + placeText(w.Place)})
	return r
}

// stepView shows a step of a run, or a run.
type stepView struct {
	report  *explain.Report
	status  string
	outcome string
}

func (v stepView) data() any { return v.report }

func (v stepView) page(bool) whyPage {
	p := whyPage{Title: fmt.Sprintf("%s: %s", v.report.Subject, v.status)}
	if v.outcome != "" {
		p.Lead = append(p.Lead, v.outcome)
	}
	for _, c := range v.report.Constraints {
		known, _ := reason.Of(c.Code)
		p.Sections = append(p.Sections, whySection{Title: "Why it waits", Items: []whyItem{{Mark: string(c.Code), Text: c.Message, Lines: []string{known.Help}}}})
	}
	if len(v.report.Constraints) == 0 {
		p.Lead = append(p.Lead, "it waits for nothing")
	}
	if c := v.report.Constraints; len(c) > 0 && c[0].Code == reason.Unschedulable {
		p.Sections[0].Note = "more, where the cluster can be asked: berth why --pending -n NAMESPACE"
	}
	return p
}

func (v stepView) records() [][]string { return workloadView{v.report}.records() }
