package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
)

// TestModel drives random graphs through random interleavings of everything that can happen, with
// observations that come twice, late, or not before a crash, and holds the machine to its promises. The
// world is a model of an executor: it has objects, which are created, run, end and go.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range 400 {
			if w.state.Status.Ended() && len(w.undone) == 0 {
				break
			}
			w.happen()
			w.hold()
		}
		w.end()
	})
}

type world struct {
	*rapid.T
	graph   *Graph
	plan    *plan.Plan
	state   *State
	now     time.Time
	undone  map[string]Command
	objects []*object
	fences  map[string]int64
	past    []Observation // that may come again
	ended   map[string]StepStatus
}

// object is what an executor has made.
type object struct {
	Observation
	alive bool // it exists
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), undone: map[string]Command{}, fences: map[string]int64{}, ended: map[string]StepStatus{}}
	w.plan = &plan.Plan{Pipeline: "p"}
	if rapid.Bool().Draw(t, "run timeout") {
		w.plan.Timeout = plan.Duration(3 * time.Hour)
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
		s := plan.Step{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("s%d", i), Step: fmt.Sprintf("s%d", i), Timeout: plan.Duration(time.Hour),
			ScheduleTimeout: plan.Duration(15 * time.Minute), ImageTimeout: plan.Duration(5 * time.Minute), AllowFailure: rapid.Bool().Draw(t, "allow")}
		for n := range i {
			if rapid.IntRange(0, 2).Draw(t, "needs") == 0 {
				s.Needs = append(s.Needs, fmt.Sprintf("s%d", n))
			}
		}
		s.If = rapid.SampledFrom([]string{"", "", "always()", "failure()", "success()"}).Draw(t, "if")
		if rapid.Bool().Draw(t, "retry") {
			s.Retry = &plan.Retry{Max: rapid.IntRange(1, 3).Draw(t, "max"), Backoff: plan.Duration(time.Second),
				On: rapid.SliceOfN(rapid.SampledFrom([]pipeline.RetryOn{"failure", "oom", "timeout", "lost"}), 1, 4).Draw(t, "on")}
		}
		w.plan.Steps = append(w.plan.Steps, s)
	}
	var err error
	if w.graph, err = NewGraph(w.plan); err != nil {
		t.Fatal(err)
	}
	w.state, _ = New(w.plan, "R", w.now)
	return w
}

func key(c Command) string { return fmt.Sprintf("%s/%s/%d", c.Kind, c.Step, c.Attempt) }

// event lets something happen to the machine, and looks at what it wants done.
func (w *world) event(e Event) {
	before := w.state
	stored, _ := json.Marshal(before.Steps)
	r := w.graph.Step(w.state, e, Settings{}, w.now)
	if again, _ := json.Marshal(before.Steps); string(again) != string(stored) {
		w.Fatalf("%T wrote to the state that it was given", e)
	}
	w.state = r.State
	for _, d := range r.Done {
		delete(w.undone, key(d))
	}
	for _, c := range r.Commands {
		if c.Kind == CommandStart {
			w.starts(before, c)
		}
		w.undone[key(c)] = c
	}
}

// starts holds a start to what allows it.
func (w *world) starts(before *State, c Command) {
	i, _ := w.graph.Index(c.Step)
	for _, n := range w.graph.needs[i] {
		if !before.Steps[n].Status.Ended() {
			w.Fatalf("%s starts before %s has ended", c.Step, before.Steps[n].ID)
		}
		if s := before.Steps[n]; w.plan.Steps[i].If == "" && s.Status != StepSucceeded && !(s.Status == StepFailed && w.plan.Steps[n].AllowFailure) {
			w.Fatalf("%s starts although %s is %s", c.Step, s.ID, s.Status)
		}
	}
	for _, o := range w.objects {
		if o.Step == c.Step && o.alive {
			w.Fatalf("attempt %d of %s starts while the object of attempt %d is there", c.Attempt, c.Step, o.Attempt)
		}
	}
	if f := w.state.Steps[i].Fence; f <= w.fences[c.Step] {
		w.Fatalf("the fence of %s is %d after %d", c.Step, f, w.fences[c.Step])
	}
	w.fences[c.Step] = w.state.Steps[i].Fence
}

// observe tells the machine how an object is.
func (w *world) observe(o Observation) {
	w.past = append(w.past, o)
	w.event(Observed{o})
}

func (w *world) happen() {
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 600).Draw(w.T, "seconds")) * time.Second)
	switch rapid.IntRange(0, 11).Draw(w.T, "what") {
	case 0:
		w.event(Admitted{})
	case 1, 2, 3:
		w.event(Start{Step: rapid.SampledFrom(w.state.Steps).Draw(w.T, "step").ID})
	case 4, 5:
		w.carryOut()
	case 6, 7, 8:
		w.progress()
	case 9:
		w.event(Tick{})
	case 10:
		w.oddity()
	case 11:
		w.crash()
	}
}

// carryOut does something that the machine wants done, which may be for the second time.
func (w *world) carryOut() {
	keys := make([]string, 0, len(w.undone))
	for k := range w.undone {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	c := w.undone[rapid.SampledFrom(keys).Draw(w.T, "command")]
	ref := Ref{"R", c.Step, c.Attempt}
	o := w.object(ref)
	switch c.Kind {
	case CommandStart:
		switch {
		case o == nil && rapid.IntRange(0, 5).Draw(w.T, "refused") == 0:
			w.objects = append(w.objects, &object{Observation: Observation{Ref: ref, Phase: PhaseGone}})
			w.observe(Observation{Ref: ref, Phase: PhaseGone, Refused: &Outcome{Class: NeverStarted, Reason: reason.PodForbidden, Final: rapid.Bool().Draw(w.T, "final")}})
		case o == nil:
			o = &object{Observation: Observation{Ref: ref, ID: fmt.Sprintf("%s-%d", c.Step, len(w.objects)), Phase: PhaseWaiting, Clock: ClockSchedule,
				Waiting: &Waiting{Reason: reason.Unschedulable, Message: "no"}}, alive: true}
			w.objects = append(w.objects, o)
			w.observe(o.Observation)
		default:
			w.observe(o.Observation)
		}
	case CommandStop, CommandCollect:
		if o == nil {
			o = &object{Observation: Observation{Ref: ref}}
			w.objects = append(w.objects, o)
		}
		w.deleted(o)
		w.gone(o)
	case CommandFinish:
		for _, o := range w.objects {
			if o.alive {
				w.Fatal("the run's workspace is removed while ", o.Ref, " is there")
			}
		}
		delete(w.undone, key(c))
	}
}

func (w *world) object(ref Ref) *object {
	for _, o := range w.objects {
		if o.Ref == ref {
			return o
		}
	}
	return nil
}

func (w *world) deleted(o *object) {
	if o.DeletionAt.IsZero() {
		o.DeletionAt = w.now
	}
}

func (w *world) gone(o *object) {
	o.alive, o.Phase, o.Waiting = false, PhaseGone, nil
	w.observe(o.Observation)
}

// alive are the objects that exist.
func (w *world) alive() []*object {
	return slices.DeleteFunc(slices.Clone(w.objects), func(o *object) bool { return !o.alive })
}

// progress moves an object on.
func (w *world) progress() {
	alive := w.alive()
	if len(alive) == 0 {
		return
	}
	o := rapid.SampledFrom(alive).Draw(w.T, "object")
	switch {
	case o.Phase == PhaseWaiting && o.Node == "":
		o.Node, o.Clock, o.Waiting = "n", ClockImage, &Waiting{Reason: reason.ImagePull, Message: "pulling"}
	case o.Phase == PhaseWaiting:
		o.Phase, o.StartedAt, o.Waiting, o.Clock = PhaseRunning, w.now, nil, NoClock
	case o.Phase == PhaseRunning:
		code := rapid.IntRange(0, 1).Draw(w.T, "exit")
		class := map[int]Class{0: Success, 1: Failure}[code]
		o.Phase = PhaseEnded
		o.End = &End{Outcome: Outcome{Class: class, Reason: reason.ExitCode, ExitCode: &code}, FinishedAt: w.now}
		if rapid.IntRange(0, 4).Draw(w.T, "odd end") == 0 {
			o.End.Class, o.End.Reason = rapid.SampledFrom([]Class{OOM, Lost, Timeout}).Draw(w.T, "class"), reason.OOMKilled
		}
	}
	if rapid.IntRange(0, 3).Draw(w.T, "unseen") > 0 {
		w.observe(o.Observation)
	}
}

// oddity is what others do, and what watches are like.
func (w *world) oddity() {
	alive := w.alive()
	switch rapid.IntRange(0, 4).Draw(w.T, "oddity") {
	case 0:
		if len(w.past) > 0 {
			w.event(Observed{rapid.SampledFrom(w.past).Draw(w.T, "again")})
		}
	case 1:
		if len(alive) > 0 { // someone deletes it
			o := rapid.SampledFrom(alive).Draw(w.T, "deleted")
			w.deleted(o)
			if rapid.Bool().Draw(w.T, "at once") {
				w.gone(o)
			} else {
				w.observe(o.Observation)
			}
		}
	case 2:
		if len(alive) > 0 {
			o := rapid.SampledFrom(alive).Draw(w.T, "silent")
			if o.Phase == PhaseRunning {
				o.SilentSince = w.now
				w.observe(o.Observation)
			}
		}
	case 3:
		if rapid.IntRange(0, 9).Draw(w.T, "cancel") == 0 {
			w.event(Cancel{By: "x"})
		}
	case 4:
		i := rapid.IntRange(0, len(w.state.Steps)-1).Draw(w.T, "reissued")
		if a := w.state.Steps[i].Attempt; a != nil {
			before := w.state.Steps[i].Fence
			w.event(Reissue{Step: w.state.Steps[i].ID, Attempt: a.Number})
			if now := w.state.Steps[i].Fence; now != before {
				if now <= w.fences[w.state.Steps[i].ID] {
					w.Fatal("a reissue has an old fence")
				}
				w.fences[w.state.Steps[i].ID] = now
			}
		}
	}
}

// crash forgets all but what is stored, and sees every object anew.
func (w *world) crash() {
	stored, err := json.Marshal(w.state)
	if err != nil {
		w.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(stored, &s); err != nil {
		w.Fatal(err)
	}
	for _, step := range w.state.Steps {
		data, _ := json.Marshal(step)
		var c Step
		if err := json.Unmarshal(data, &c); err != nil {
			w.Fatal(err)
		}
		s.Steps = append(s.Steps, &c)
	}
	w.state = &s
	for _, o := range w.objects {
		if o.alive {
			w.observe(o.Observation)
		}
	}
}

// hold is what is true at every moment.
func (w *world) hold() {
	live := map[string]int{}
	for _, o := range w.objects {
		if o.alive {
			live[o.Step]++
		}
	}
	for _, s := range w.state.Steps {
		if live[s.ID] > 1 {
			w.Fatalf("%d objects of %s", live[s.ID], s.ID)
		}
		if was, ok := w.ended[s.ID]; ok && was != s.Status {
			w.Fatalf("%s was %s and is %s", s.ID, was, s.Status)
		}
		if s.Status.Ended() {
			w.ended[s.ID] = s.Status
		}
		if a := s.Attempt; a != nil && s.Status.Ended() && a.Status != AttemptEnded {
			w.Fatalf("%s is %s and its attempt %s", s.ID, s.Status, a.Status)
		}
	}
	if w.state.Status.Ended() {
		for _, s := range w.state.Steps {
			if !s.Status.Ended() {
				w.Fatalf("the run is %s and %s is %s", w.state.Status, s.ID, s.Status)
			}
		}
	}
	due, ok := w.graph.Deadline(w.state, Settings{})
	if r := w.graph.Step(w.state, Tick{}, Settings{}, w.now); r.State != w.state && (!ok || due.After(w.now)) {
		w.Fatalf("a tick at %s changes something, and the deadline is %s (%v)", w.now, due, ok)
	}
}

// end brings the run to its end: every attempt ends, everything that is wanted is done, and time passes.
func (w *world) end() {
	w.event(Admitted{})
	for range 2000 {
		if w.state.Status.Ended() && len(w.undone) == 0 {
			return
		}
		w.now = w.now.Add(time.Minute)
		w.event(Tick{})
		for _, s := range w.state.Steps {
			w.event(Start{Step: s.ID})
		}
		w.carryOut()
		w.progress()
		for _, o := range w.objects {
			if o.alive {
				w.observe(o.Observation)
			}
		}
		w.hold()
	}
	data, _ := json.MarshalIndent(w.state.Steps, "", " ")
	w.Fatalf("the run does not end: %s\n%s\nundone %v", w.state.Status, data, w.undone)
}
