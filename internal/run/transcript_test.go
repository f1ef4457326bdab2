package run

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/govern"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/plan"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/transcript"
)

// TestTranscripts shows the machine at work. A case has the steps of a pipeline and what happens to a run of it: each
// event is a line that begins with ">", with the time that has passed since the one before, and below it stands what
// came of that: how run, steps and attempts are now, "do" for a command, and "done" for one that is.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		var b strings.Builder
		b.WriteString(prose)
		s := &script{T: t, now: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
		for _, section := range sections {
			switch section.Name {
			case "steps":
				s.plan(section.Body)
			case "settings":
				s.set(section.Body)
			case "events":
				section.Body = s.play(section.Body)
			}
			b.WriteString("\n" + section.String())
		}
		return b.String()
	})
}

// script is a run under way.
type script struct {
	*testing.T
	graph    *Graph
	state    *State
	settings Settings
	now      time.Time
}

func (s *script) plan(steps string) {
	s.Helper()
	file, findings := pipeline.Parse("p.yaml", []byte("version: 1\nname: p\ndefaults: {image: i}\n"+steps), pipeline.Options{})
	if file == nil {
		s.Fatal(findings.Text(nil))
	}
	out := plan.Make(file, profile.Empty(), pipeline.Input{}, govern.Who{Embedded: true})
	if out.Plan == nil {
		s.Fatal(out.Findings.Text(nil))
	}
	var err error
	if s.graph, err = NewGraph(Slim(out.Plan)); err != nil {
		s.Fatal(err)
	}
	s.state, _ = New(out.Plan, "R", s.now)
}

func (s *script) set(text string) {
	for _, word := range strings.Fields(text) {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "node_lost_timeout":
			s.settings.NodeLost = s.duration(value)
		case "force_delete_lost":
			s.settings.ForceDeleteLost = value == "true"
		default:
			s.Fatalf("no setting %s", key)
		}
	}
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatal(err)
	}
	return d
}

// play lets the events happen, and gives them with what came of each.
func (s *script) play(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ">") {
			continue
		}
		b.WriteString(line)
		words := strings.Fields(line)[1:]
		if len(words) < 2 {
			s.Fatalf("write: > +TIME EVENT: %s", line)
		}
		s.now = s.now.Add(s.duration(strings.TrimPrefix(words[0], "+")))
		r := s.graph.Step(s.state, s.event(words[1], words[2:]), s.settings, s.now)
		s.state = r.State
		for _, e := range r.Entries {
			fmt.Fprintf(&b, "  %s\n", entry(e))
		}
		for _, c := range r.Commands {
			fmt.Fprintf(&b, "  do %s\n", command(c))
		}
		for _, c := range r.Done {
			fmt.Fprintf(&b, "  done %s %s/%d\n", c.Kind, c.Step, c.Attempt)
		}
	}
	return b.String()
}

func entry(e Entry) string {
	text := e.Kind + " "
	switch e.Kind {
	case KindStep:
		text += e.Step + " "
	case KindAttempt:
		text += fmt.Sprintf("%s/%d ", e.Step, e.Attempt)
	}
	text += e.Status
	if e.Class != "" {
		text += " " + string(e.Class)
	}
	if e.Reason != "" {
		text += " " + string(e.Reason)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func command(c Command) string {
	text := string(c.Kind)
	if c.Step != "" {
		text += fmt.Sprintf(" %s/%d", c.Step, c.Attempt)
	}
	if c.Force {
		text += " by force"
	}
	if c.Keep {
		text += ", which may be kept"
	}
	return text
}

// event reads an event: its name, a step or attempt, and what is to be said of it.
func (s *script) event(name string, words []string) Event {
	switch name {
	case "admitted":
		return Admitted{}
	case "start":
		return Start{Step: words[0]}
	case "hold":
		return Hold{Step: words[0], Waiting: Waiting{Reason: reason.Code(words[1]), Message: strings.Join(words[2:], " ")}}
	case "reissue":
		ref := s.ref(words[0])
		return Reissue{Step: ref.Step, Attempt: ref.Attempt}
	case "cancel":
		return Cancel{By: words[0]}
	case "tick":
		return Tick{}
	case "seen":
		return Observed{s.seen(s.ref(words[0]), Phase(words[1]), words[2:])}
	}
	s.Fatalf("no event %s", name)
	return nil
}

func (s *script) ref(text string) Ref {
	step, number, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		s.Fatalf("write STEP/ATTEMPT: %s", text)
	}
	return Ref{Run: "R", Step: step, Attempt: n}
}

// seen reads an observation.
func (s *script) seen(ref Ref, phase Phase, words []string) Observation {
	o := Observation{Ref: ref, Phase: phase}
	if phase == PhaseRunning || phase == PhaseEnded {
		o.ID, o.Node, o.ScheduledAt, o.StartedAt = "uid", "node", s.now, s.now
		if i, ok := s.graph.Index(ref.Step); ok && s.state.Steps[i].Attempt != nil && !s.state.Steps[i].Attempt.StartedAt.IsZero() {
			o.StartedAt = s.state.Steps[i].Attempt.StartedAt
		}
	}
	if phase == PhaseEnded {
		o.End = &End{FinishedAt: s.now, Outcome: Outcome{Class: Success, Reason: reason.Completed, ExitCode: new(int)}}
	}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "id":
			o.ID = value
		case "clock":
			o.Clock = Clock(value)
		case "waits":
			o.Waiting = &Waiting{Reason: reason.Code(value), Message: "because of " + value}
		case "exit":
			code, _ := strconv.Atoi(value)
			o.End.Outcome = Outcome{Class: Failure, Reason: reason.ExitCode, ExitCode: &code, Message: "exit code " + value}
			if code == 0 {
				o.End.Outcome = Outcome{Class: Success, Reason: reason.Completed, ExitCode: &code}
			}
		case "class":
			class, why, _ := strings.Cut(value, "/")
			o.End.Outcome = Outcome{Class: Class(class), Reason: reason.Code(why), Message: "so says the pod"}
			if o.End.Class == NeverStarted {
				o.StartedAt, o.End.FinishedAt = time.Time{}, time.Time{}
			}
		case "output":
			o.End.Output = value + "\n"
		case "deleted":
			o.DeletionAt = s.now.Add(-s.duration(value))
		case "silent":
			o.SilentSince = s.now.Add(-s.duration(value))
		case "refused":
			o.Refused = &Outcome{Class: NeverStarted, Reason: reason.Code(value), Message: "the API server said no", Final: true}
		default:
			s.Fatalf("nothing is known of %s", word)
		}
	}
	return o
}
