package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/explain/fit"
	"github.com/berthdev/berth/internal/reason"
)

const reasonsIntroduction = `# Reasons

Why something is where it is, waits, or ended as it did. A code never changes its meaning.

Constraints are what ` + "`berth why`" + ` says of a workload: *hard* ones stop, *soft* ones are weighed or cost something
and stop nobody. The engines are those that a constraint binds: the scheduler; eviction, which is the API that
` + "`kubectl drain`" + ` and all others use; and those that move pods and remove nodes. What a code needs to be read is what
berth needs beside the pod itself; without it, the code is named under "not known".
`

var groupTitles = []struct {
	group reason.Group
	title string
}{
	{reason.OnNodes, "What the pod and the node are"},
	{reason.OnPods, "What other pods are"},
	{reason.OnStorage, "What volumes are"},
	{reason.OnMoving, "What stops the removal of a pod, or what it costs"},
	{reason.OnPools, "What the one who makes and removes nodes was told"},
}

// reasonsReference has every code.
func reasonsReference() string {
	b := &strings.Builder{}
	b.WriteString(generatedFrom("internal/reason"))
	b.WriteString(reasonsIntroduction)
	for _, g := range groupTitles {
		fmt.Fprintf(b, "\n## %s\n", g.title)
		for _, c := range reason.Constraints {
			if c.Group == g.group {
				writeConstraint(b, c)
			}
		}
	}
	for _, k := range []struct {
		kind  reason.Kind
		title string
	}{{reason.Waiting, "Why a run, a step or an attempt of Berth has not started"}, {reason.Ending, "Why it ended as it did"}} {
		fmt.Fprintf(b, "\n## %s\n", k.title)
		for _, r := range reason.All {
			if r.Kind != k.kind {
				continue
			}
			if _, both := reason.ConstraintOf(r.Code); both {
				fmt.Fprintf(b, "\n[`%s`](#%s), as above: %s\n", r.Code, r.Code, r.Help)
				continue
			}
			fmt.Fprintf(b, "\n### %s\n\n%s. %s\n", r.Code, capital(r.Title), r.Help)
		}
	}
	return b.String()
}

func writeConstraint(b *strings.Builder, c reason.Constraint) {
	fmt.Fprintf(b, "\n### %s\n\n%s. %s\n\n", c.Code, capital(c.Title), c.Sentence)
	rights := ""
	if c.Rights != "" {
		rights = "; needs: " + c.Rights
	}
	fmt.Fprintf(b, "%s; of the %s; binds %s%s.\n", capital(string(c.Hardness)), c.Scope, enginesText(c.Engines), rights)
	for _, d := range explain.Disagreements {
		if d.Code == c.Code {
			fmt.Fprintf(b, "\nDisagreement: %s %s. Checked against %s.\n", d.Engine, d.Says, d.Version)
		}
	}
}

// Each code is there once, complete, and has a heading of its own; so has everything that package fit says.
func TestReasons(t *testing.T) {
	page := reasonsReference()
	seen := map[reason.Code]bool{}
	for _, c := range reason.Constraints {
		if seen[c.Code] {
			t.Errorf("%s is there twice", c.Code)
		}
		seen[c.Code] = true
		if c.Title == "" || c.Sentence == "" || c.Hardness == "" || c.Scope == "" || len(c.Engines) == 0 || c.Group == "" || !strings.HasSuffix(c.Sentence, ".") {
			t.Errorf("%s is not complete: %+v", c.Code, c)
		}
		if n := strings.Count(page, "\n### "+string(c.Code)+"\n"); n != 1 || c.Anchor() != "reasons.md#"+string(c.Code) {
			t.Errorf("%s has %d headings, and the anchor %s", c.Code, n, c.Anchor())
		}
	}
	for _, r := range reason.All {
		if !strings.Contains(page, "\n### "+string(r.Code)+"\n") {
			t.Errorf("%s has no heading", r.Code)
		}
	}
	for _, d := range explain.Disagreements {
		if c, ok := reason.ConstraintOf(d.Code); !ok || d.Version == "" || d.Says == "" {
			t.Errorf("disagreement about %s: %+v", c.Code, d)
		}
	}
	for _, k := range []fit.Kind{fit.Gate, fit.NodeName, fit.Cordoned, fit.Taint, fit.NodeSelector, fit.NodeAffinity, fit.Contradiction, fit.HostPort,
		fit.PodCount, fit.Resources, fit.VolumeInUse, fit.ClaimInUse, fit.DriverMissing, fit.AttachLimit, fit.VolumeUnbound, fit.VolumeLocal, fit.VolumeZone,
		fit.Spread, fit.TopologyMissing, fit.PodAffinity, fit.AntiSelf, fit.AntiOther, fit.AntiInverse, fit.NodeFeature} {
		if !seen[reason.Code(k)] {
			t.Errorf("%s is said of nodes, and is not registered", k)
		}
	}
}
