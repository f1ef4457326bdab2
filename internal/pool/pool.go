package pool

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/reason"
)

// Key names a step of a run.
type Key struct{ Run, Step string }

// Candidate is a step that could start, or that holds a slot.
type Candidate struct {
	Key
	Pool     string // "" for none
	Priority int
	ReadyAt  time.Time
	Group    int // of the run's workspace, see AddRun; -1: it does not have it
}

// Limits bound what is active at once. 0 is no bound.
type Limits struct {
	ActiveSteps int
	Pools       map[string]int // slots by name; a pool that is not there does not exist
}

// Decision is what Admit comes to.
type Decision struct {
	Start   []Candidate // they hold their slots from now on
	Held    []Verdict   // that are new, or have changed noticeably
	Unknown []Candidate // whose pool does not exist; they wait no longer
}

// Verdict is why a step waits.
type Verdict struct {
	Key
	Reason  reason.Code
	Message string
	Place   int // among those that wait for the same, from 1
}

// Queue has the steps that wait, and those that hold slots.
type Queue struct {
	runs      map[string]*member
	waiting   map[Key]*entry
	lines     map[lineKey]*line
	occupied  map[Key]Candidate
	active    int
	pools     map[string]int // slots in use
	pipelines map[string]int
	changed   bool   // since the last Admit
	limits    Limits // of the last Admit
}

// member is a run.
type member struct {
	pipeline  string
	maxActive int
	active    int
	groups    map[int]map[string]bool // steps that have the workspace, by group
	apart     func(a, b int) bool
}

// line is a queue of steps that are all alike but for their age: if the first can't start, none can.
type line struct {
	lineKey
	entries []*entry // by age
}

type lineKey struct {
	priority  int
	run, pool string
	group     int
}

type entry struct {
	Candidate
	said Verdict // what was last reported
}

// NewQueue is a queue with nothing in it.
func NewQueue() *Queue {
	return &Queue{runs: map[string]*member{}, waiting: map[Key]*entry{}, lines: map[lineKey]*line{},
		occupied: map[Key]Candidate{}, pools: map[string]int{}, pipelines: map[string]int{}}
}

// AddRun makes a run known, before its steps. apart says whether steps of two groups can't have the run's
// workspace at once; nil: they always can. maxActive 0 is no bound.
func (q *Queue) AddRun(run, pipeline string, maxActive int, apart func(a, b int) bool) {
	if q.runs[run] == nil {
		q.runs[run] = &member{pipeline: pipeline, maxActive: maxActive, apart: apart, groups: map[int]map[string]bool{}}
	}
}

// RemoveRun forgets a run and all of its steps.
func (q *Queue) RemoveRun(run string) {
	for key := range q.waiting { // in any order
		if key.Run == run {
			q.Forget(key)
		}
	}
	for key := range q.occupied { // in any order
		if key.Run == run {
			q.Release(key)
		}
	}
	delete(q.runs, run)
}

// Wait puts a step in the queue. One that is there already stays where it is.
func (q *Queue) Wait(c Candidate) {
	if q.waiting[c.Key] != nil || q.runs[c.Run] == nil {
		return
	}
	e := &entry{Candidate: c}
	q.changed = true
	q.waiting[c.Key] = e
	key := keyOf(c)
	l := q.lines[key]
	if l == nil {
		l = &line{lineKey: key}
		q.lines[key] = l
	}
	i, _ := slices.BinarySearchFunc(l.entries, e, older)
	l.entries = slices.Insert(l.entries, i, e)
}

func keyOf(c Candidate) lineKey { return lineKey{c.Priority, c.Run, c.Pool, c.Group} }

func older(a, b *entry) int {
	return cmp.Or(a.ReadyAt.Compare(b.ReadyAt), strings.Compare(a.Run, b.Run), strings.Compare(a.Step, b.Step))
}

// Forget takes a step out of the queue.
func (q *Queue) Forget(key Key) {
	e := q.waiting[key]
	if e == nil {
		return
	}
	q.changed = true
	delete(q.waiting, key)
	l := q.lines[keyOf(e.Candidate)]
	if i, ok := slices.BinarySearchFunc(l.entries, e, older); ok {
		l.entries = slices.Delete(l.entries, i, i+1)
	}
	if len(l.entries) == 0 {
		delete(q.lines, l.lineKey)
	}
}

// Occupy has a step hold its slots.
func (q *Queue) Occupy(c Candidate) {
	q.Forget(c.Key)
	m := q.runs[c.Run]
	if _, twice := q.occupied[c.Key]; twice || m == nil {
		return
	}
	q.occupied[c.Key] = c
	q.count(c, m, 1)
	if c.Group >= 0 {
		if m.groups[c.Group] == nil {
			m.groups[c.Group] = map[string]bool{}
		}
		m.groups[c.Group][c.Step] = true
	}
}

// Release frees what a step held.
func (q *Queue) Release(key Key) {
	c, ok := q.occupied[key]
	if !ok {
		return
	}
	delete(q.occupied, key)
	m := q.runs[c.Run]
	q.count(c, m, -1)
	if c.Group >= 0 {
		if delete(m.groups[c.Group], c.Step); len(m.groups[c.Group]) == 0 {
			delete(m.groups, c.Group)
		}
	}
}

func (q *Queue) count(c Candidate, m *member, by int) {
	q.changed = true
	q.active += by
	m.active += by
	q.pipelines[m.pipeline] += by
	if q.pipelines[m.pipeline] == 0 {
		delete(q.pipelines, m.pipeline)
	}
	if c.Pool != "" {
		q.pools[c.Pool] += by
	}
}
