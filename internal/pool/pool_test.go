package pool

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/reason"
)

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func step(run, id, pool string, priority, age, group int) Candidate {
	return Candidate{Key: Key{run, id}, Pool: pool, Priority: priority, ReadyAt: start.Add(-time.Duration(age) * time.Minute), Group: group}
}

func ids(all []Candidate) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Run+"/"+c.Step)
	}
	return out
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name   string
		wait   []Candidate
		busy   []Candidate
		limits Limits
		start  []string
		held   []string
	}{
		{"priority, then the pipeline with fewer slots, then age",
			[]Candidate{step("a", "old", "", 0, 9, -1), step("a", "new", "", 0, 1, -1), step("b", "b", "", 0, 5, -1), step("b", "urgent", "", 7, 0, -1)},
			[]Candidate{step("a", "busy", "", 0, 0, -1)}, Limits{ActiveSteps: 4},
			[]string{"b/urgent", "a/old", "b/b"},
			[]string{"a/new steps_limit (1): 4 steps are active, as many as the operator's limits allow"}},
		{"a full pool holds up none that waits for another",
			[]Candidate{step("a", "x", "one", 9, 9, -1), step("a", "y", "two", 0, 0, -1), step("a", "z", "one", 0, 0, -1)},
			[]Candidate{step("b", "busy", "one", 0, 0, -1)}, Limits{Pools: map[string]int{"one": 1, "two": 1}},
			[]string{"a/y"},
			[]string{"a/x pool_full (1): pool one is full: 1 of 1 slots are in use", "a/z pool_full (2): pool one is full: 1 of 1 slots are in use"}},
		{"steps that exclude each other go one after another",
			[]Candidate{step("a", "amd", "", 0, 9, 0), step("a", "amd2", "", 0, 8, 0), step("a", "arm", "", 0, 7, 1), step("a", "free", "", 0, 6, -1)},
			nil, Limits{}, []string{"a/amd", "a/amd2", "a/free"},
			[]string{"a/arm workspace_apart (1): waits for amd, which has the workspace on a node that this step's placement excludes"}},
		{"the run's own bound",
			[]Candidate{step("two", "x", "", 0, 3, -1), step("two", "y", "", 0, 2, -1), step("two", "z", "", 0, 1, -1)},
			nil, Limits{}, []string{"two/x", "two/y"},
			[]string{"two/z run_limit (1): the run has 2 active steps, as many as its max_active_steps allows"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := NewQueue()
			for _, run := range []string{"a", "b"} {
				q.AddRun(run, "pipeline-"+run, 0, func(a, b int) bool { return a != b })
			}
			q.AddRun("two", "two", 2, nil)
			for _, c := range test.busy {
				q.Occupy(c)
			}
			for _, c := range test.wait {
				q.Wait(c)
			}
			d := q.Admit(test.limits)
			var held []string
			for _, v := range d.Held {
				held = append(held, v.String())
			}
			if !slices.Equal(ids(d.Start), test.start) || !slices.Equal(held, test.held) {
				t.Errorf("started %v, held %q", ids(d.Start), held)
			}
			if again := q.Admit(test.limits); len(again.Start)+len(again.Held) > 0 {
				t.Errorf("nothing has changed, and it says %+v", again)
			}
		})
	}
}

func TestUnknownPool(t *testing.T) {
	q := NewQueue()
	q.AddRun("a", "a", 0, nil)
	q.Wait(step("a", "x", "gone", 0, 0, -1))
	if d := q.Admit(Limits{}); len(d.Unknown) != 1 || len(d.Start) != 0 {
		t.Errorf("%+v", d)
	}
	if len(q.waiting) != 0 {
		t.Error("it still waits")
	}
}

// TestBounds holds random queues to their bounds, and to starting whatever fits.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := NewQueue()
		bounds := map[string]int{"a": 0, "b": 2, "c": 3}
		for _, run := range []string{"a", "b", "c"} {
			q.AddRun(run, "p-"+string(run[0]%2+'0'), bounds[run], func(a, b int) bool { return a != b })
		}
		var waiting, active []Candidate
		for n := range 60 {
			limits := Limits{ActiveSteps: rapid.IntRange(0, 6).Draw(t, "steps"), Pools: map[string]int{"x": rapid.IntRange(0, 2).Draw(t, "x"), "y": 1}}
			for range rapid.IntRange(0, 3).Draw(t, "new") {
				c := step(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "run"), fmt.Sprintf("s%d-%d", n, len(waiting)),
					rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "pool"), rapid.IntRange(0, 2).Draw(t, "priority"), rapid.IntRange(0, 9).Draw(t, "age"), rapid.IntRange(-1, 1).Draw(t, "group"))
				q.Wait(c)
				waiting = append(waiting, c)
			}
			for i := len(active) - 1; i >= 0; i-- {
				if rapid.Bool().Draw(t, "ends") {
					q.Release(active[i].Key)
					active = slices.Delete(active, i, i+1)
				}
			}
			for _, c := range q.Admit(limits).Start {
				if why := obstacle(c, active, limits, bounds); why != "" {
					t.Fatalf("%v starts: %s", c, why)
				}
				for _, other := range waiting {
					if obstacle(other, active, limits, bounds) == "" && other.Priority > c.Priority {
						t.Fatalf("%v starts before %v", c, other)
					}
				}
				active = append(active, c)
				waiting = slices.DeleteFunc(waiting, func(w Candidate) bool { return w.Key == c.Key })
			}
			for _, c := range waiting {
				if obstacle(c, active, limits, bounds) == "" {
					t.Fatalf("%v does not start, and nothing is in its way", c)
				}
			}
		}
	})
}

// obstacle is the rule once more, without memory.
func obstacle(c Candidate, active []Candidate, limits Limits, bounds map[string]int) string {
	inRun, inPool := 0, 0
	for _, a := range active {
		if a.Run == c.Run {
			inRun++
			if a.Group >= 0 && c.Group >= 0 && a.Group != c.Group {
				return "apart"
			}
		}
		if a.Pool == c.Pool {
			inPool++
		}
	}
	switch {
	case c.Pool != "" && inPool >= limits.Pools[c.Pool]:
		return "pool"
	case bounds[c.Run] > 0 && inRun >= bounds[c.Run]:
		return "run"
	case limits.ActiveSteps > 0 && len(active) >= limits.ActiveSteps:
		return "steps"
	}
	return ""
}

// Places far behind are not said anew for each step that starts.
func TestPlacesAreSaidWhenTheyChangeNoticeably(t *testing.T) {
	q := NewQueue()
	q.AddRun("a", "a", 1, nil)
	const steps = 1000
	for n := range steps {
		q.Wait(step("a", fmt.Sprintf("s%04d", n), "", 0, steps-n, -1))
	}
	said := 0
	for range steps {
		d := q.Admit(Limits{})
		said += len(d.Held)
		for _, v := range d.Held {
			if v.Reason != reason.RunLimit {
				t.Fatal(v)
			}
		}
		q.Release(d.Start[0].Key)
	}
	if said > steps*60 {
		t.Errorf("%d verdicts for %d steps", said, steps)
	}
}

func BenchmarkAdmit(b *testing.B) {
	q := NewQueue()
	for r := range 10 {
		q.AddRun(fmt.Sprint(r), fmt.Sprint(r), 0, nil)
	}
	for n := range 10000 {
		q.Wait(step(fmt.Sprint(n%10), fmt.Sprintf("s%05d", n), "", 0, n, -1))
	}
	var busy []Candidate
	busy = append(busy, q.Admit(Limits{ActiveSteps: 100}).Start...)
	b.ReportAllocs()
	for b.Loop() {
		first := slices.MinFunc(busy, func(a, b Candidate) int { return cmp.Compare(a.Step, b.Step) })
		q.Release(first.Key)
		busy = slices.DeleteFunc(busy, func(c Candidate) bool { return c.Key == first.Key })
		q.Wait(first)
		busy = append(busy, q.Admit(Limits{ActiveSteps: 100}).Start...)
	}
}
