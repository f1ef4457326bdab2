package pool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/reason"
)

// Admit starts what may start, and says why the rest waits.
func (q *Queue) Admit(limits Limits) Decision {
	var d Decision
	if !q.changed && limits.ActiveSteps == q.limits.ActiveSteps && maps.Equal(limits.Pools, q.limits.Pools) {
		return d
	}
	lines := make([]*line, 0, len(q.lines))
	for _, l := range q.lines {
		if _, known := limits.Pools[l.pool]; l.pool != "" && !known {
			for _, e := range l.entries {
				d.Unknown = append(d.Unknown, e.Candidate)
			}
			continue
		}
		lines = append(lines, l)
	}
	slices.SortFunc(d.Unknown, func(a, b Candidate) int { return older(&entry{Candidate: a}, &entry{Candidate: b}) })
	for _, c := range d.Unknown {
		q.Forget(c.Key)
	}
	for {
		first := q.first(lines, limits)
		if first == nil {
			break
		}
		c := first.entries[0].Candidate
		q.Occupy(c)
		d.Start = append(d.Start, c)
		if len(first.entries) == 0 {
			lines = slices.DeleteFunc(lines, func(l *line) bool { return l == first })
		}
	}
	d.Held = q.held(lines, limits)
	q.changed, q.limits = false, limits
	return d
}

// first is the line whose oldest step starts next; nil if none may.
func (q *Queue) first(lines []*line, limits Limits) *line {
	var best *line
	for _, l := range lines {
		if code, _ := q.obstacle(l, limits); code == "" && (best == nil || q.before(l, best)) {
			best = l
		}
	}
	return best
}

// before says whether the oldest of one line goes before that of another.
func (q *Queue) before(a, b *line) bool {
	return cmp.Or(
		cmp.Compare(b.priority, a.priority),
		cmp.Compare(q.pipelines[q.runs[a.run].pipeline], q.pipelines[q.runs[b.run].pipeline]),
		older(a.entries[0], b.entries[0])) < 0
}

// obstacle is what a line waits for: the narrowest first.
func (q *Queue) obstacle(l *line, limits Limits) (reason.Code, string) {
	m := q.runs[l.run]
	if other := m.excluded(l.group); other != "" {
		return reason.WorkspaceApart, "waits for " + other + ", which has the workspace on a node that this step's placement excludes"
	}
	if slots := limits.Pools[l.pool]; l.pool != "" && q.pools[l.pool] >= slots {
		return reason.PoolFull, fmt.Sprintf("pool %s is full: %d of %d slots are in use", l.pool, q.pools[l.pool], slots)
	}
	if m.maxActive > 0 && m.active >= m.maxActive {
		return reason.RunLimit, fmt.Sprintf("the run has %d active steps, as many as its max_active_steps allows", m.active)
	}
	if limits.ActiveSteps > 0 && q.active >= limits.ActiveSteps {
		return reason.StepsLimit, fmt.Sprintf("%d steps are active, as many as the operator's limits allow", q.active)
	}
	return "", ""
}

// excluded names a step that has the workspace and keeps a group from it; "" if none does.
func (m *member) excluded(group int) string {
	if group < 0 || m.apart == nil {
		return ""
	}
	first := ""
	for other, steps := range m.groups { // in any order: the first by name is taken
		if !m.apart(group, other) {
			continue
		}
		for step := range steps { // likewise
			if first == "" || step < first {
				first = step
			}
		}
	}
	return first
}

// waitsFor is what several lines may wait for together.
type waitsFor struct {
	code reason.Code
	of   string // pool or run
}

// held gives what has changed of why steps wait.
func (q *Queue) held(lines []*line, limits Limits) []Verdict {
	slices.SortFunc(lines, func(a, b *line) int {
		if q.before(a, b) {
			return -1
		}
		return 1
	})
	places := map[waitsFor]int{}
	var all []Verdict
	for _, l := range lines {
		code, message := q.obstacle(l, limits)
		what := waitsFor{code, ""}
		switch code {
		case reason.PoolFull:
			what.of = l.pool
		case reason.RunLimit, reason.WorkspaceApart:
			what.of = l.run
		}
		for _, e := range l.entries {
			places[what]++
			v := Verdict{Key: e.Key, Reason: code, Message: message, Place: places[what]}
			if v.noticeable(e.said) {
				e.said = v
				all = append(all, v)
			}
		}
	}
	return all
}

// noticeable says whether a verdict differs from the one before so much that people should know. Numbers in the
// message follow from what others do, and are no news.
func (v Verdict) noticeable(before Verdict) bool {
	switch {
	case v.Reason != before.Reason, v.Reason == reason.WorkspaceApart && v.Message != before.Message:
		return true
	case v.Place == before.Place:
		return false
	case v.Place <= 10:
		return true
	}
	return v.Place*10 <= before.Place*9
}

// String is for tests and logs.
func (v Verdict) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s/%s %s (%d): %s", v.Run, v.Step, v.Reason, v.Place, v.Message))
}
