package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Tally is what the scheduler says of a pod that it finds no node for.
type Tally struct {
	Nodes    int     // all that there are
	Sentence string  // what it says if it does not come to look at nodes; "" if it does
	Gated    bool    // it does not even try, and the sentence is all that is said
	Counts   []Count // in its order
}

// Count is on how many nodes a reason holds.
type Count struct {
	Nodes int
	Words string
}

// Counts cuts verdicts as the scheduler does, which stops at the first plugin that refuses a node, and
// counts what that plugin says. Verdicts are those of Explain, for one pod.
func Counts(verdicts []Verdict) Tally {
	t := Tally{Nodes: len(verdicts)}
	counts := map[string]int{}
	for i := range verdicts {
		reasons := verdicts[i].Reasons
		if t.Sentence, t.Gated = sentence(reasons); t.Sentence != "" {
			return t
		}
		for _, words := range said(reasons) {
			counts[words]++
		}
	}
	for words, n := range counts {
		t.Counts = append(t.Counts, Count{n, words})
	}
	// By the text, as the scheduler sorts.
	slices.SortFunc(t.Counts, func(a, b Count) int { return cmp.Compare(a.String(), b.String()) })
	return t
}

// sentence is what ends the search before nodes are looked at.
func sentence(reasons []Reason) (says string, isGated bool) {
	for _, s := range []stage{gated, before} {
		for i := range reasons {
			if reasons[i].stage == s && reasons[i].Words != "" {
				return reasons[i].Words, s == gated
			}
		}
	}
	return "", false
}

// said is what the scheduler says of one node.
func said(reasons []Reason) []string {
	var words []string
	for i := range reasons {
		switch r := &reasons[i]; {
		case r.stage == narrowed:
			return []string{r.Words}
		case r.Plugin == reasons[0].Plugin && r.Words != "" && !slices.Contains(words, r.Words):
			words = append(words, r.Words)
		}
	}
	return words
}

// String is as in the scheduler's message.
func (c Count) String() string { return fmt.Sprintf("%d %s", c.Nodes, c.Words) }

// String is the scheduler's message, without what it says of preemption.
func (t Tally) String() string {
	says := t.Sentence
	if t.Gated {
		return says
	}
	if says == "" {
		parts := make([]string, len(t.Counts))
		for i, c := range t.Counts {
			parts[i] = c.String()
		}
		says = strings.Join(parts, ", ")
	}
	return fmt.Sprintf("0/%d nodes are available: %s.", t.Nodes, says)
}
