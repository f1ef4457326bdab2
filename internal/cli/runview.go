package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// view shows a run while it goes on. Its methods may be called by several goroutines at once.
type view interface {
	event(store.Event)
	log(step, line string) // step is the name to people
	note(format string, args ...any)
	close()
}

// jsonView writes an event per line, for machines. Logs are not among them.
type jsonView struct {
	mu  sync.Mutex
	out io.Writer
	err io.Writer
}

func (v *jsonView) event(e store.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	enc := json.NewEncoder(v.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(eventJSON(e))
}

func (v *jsonView) log(string, string) {}

func (v *jsonView) note(format string, args ...any) {
	fmt.Fprintf(v.err, "berth: "+format+"\n", args...)
}

func (v *jsonView) close() {}

// shownEvent is a row of the event log, as -o json prints it.
type shownEvent struct {
	Number int64 `json:"number"`
	run.Entry
}

func eventJSON(e store.Event) shownEvent { return shownEvent{e.Number, e.Entry} }

// lines says in lines what happens. It knows the steps' names, and how wide they are.
type lines struct {
	names  map[string]string // by ID
	width  int
	colour bool
	began  map[string]time.Time // of the running attempt, by step
	nodes  map[string]string
	silent map[string]bool // steps on nodes that say nothing
}

func newLines(names map[string]string, colour bool) *lines {
	l := &lines{names: names, colour: colour, began: map[string]time.Time{}, nodes: map[string]string{}, silent: map[string]bool{}}
	for _, name := range names { // in any order: the widest counts
		l.width = max(l.width, len([]rune(name)))
	}
	l.width = min(l.width, 28)
	return l
}

func (l *lines) name(step string) string {
	if name, ok := l.names[step]; ok {
		return name
	}
	return step
}

func (l *lines) paint(colour, text string) string {
	if !l.colour || colour == "" {
		return text
	}
	return colour + text + plain
}

// line is what there is to say of an event; "" if nothing is.
func (l *lines) line(e store.Event) string {
	switch e.Kind {
	case "run":
		return l.run(e)
	case "attempt":
		if e.Node != "" {
			l.nodes[e.Step] = e.Node
		}
		return ""
	}
	what, colour := l.step(e)
	if what == "" {
		return ""
	}
	return fmt.Sprintf("%s  %-*s  %s", e.At.Local().Format("15:04:05"), l.width, l.name(e.Step), l.paint(colour, what))
}

func (l *lines) run(e store.Event) string {
	what, colour := "", bold
	switch run.Status(e.Status) {
	case run.Queued:
		if e.Message == "" {
			return ""
		}
		what, colour = "waits: "+e.Message, yellow
	case run.Running:
		if e.Reason == "" {
			return ""
		}
		what = string(e.Reason)
		if e.Message != "" {
			what += ": " + e.Message
		}
	default:
		return ""
	}
	return fmt.Sprintf("%s  %-*s  %s", e.At.Local().Format("15:04:05"), l.width, "run", l.paint(colour, what))
}

func (l *lines) step(e store.Event) (what, colour string) {
	if e.Status != string(run.StepRunning) {
		delete(l.silent, e.Step)
	}
	switch run.StepStatus(e.Status) {
	case run.StepReady, run.StepStarting:
		if e.Message == "" {
			return "", ""
		}
		return "waits: " + e.Message + placeText(e.Place), yellow
	case run.StepRunning:
		if e.Reason == reason.NodeSilent {
			l.silent[e.Step] = true
			return e.Message, yellow
		}
		if l.silent[e.Step] {
			delete(l.silent, e.Step)
			return "its node speaks again", cyan
		}
		l.began[e.Step] = e.At
		if node := l.nodes[e.Step]; node != "" {
			return "runs on " + node, cyan
		}
		return "runs", cyan
	case run.StepSucceeded:
		return "succeeded" + l.took(e), green
	case run.StepFailed:
		return "failed" + l.took(e) + because(e), red
	case run.StepCancelled:
		return "cancelled" + because(e), yellow
	case run.StepSkipped:
		return "skipped" + because(e), ""
	}
	return "", ""
}

func placeText(place int) string {
	if place == 0 {
		return ""
	}
	return fmt.Sprintf(" (place %d in the queue)", place)
}

func because(e store.Event) string {
	if e.Message == "" {
		return ""
	}
	return ": " + e.Message
}

func (l *lines) took(e store.Event) string {
	began, ok := l.began[e.Step]
	if !ok {
		return ""
	}
	return " after " + shortDuration(e.At.Sub(began))
}

// shortDuration is a length of time for people: 0.4s, 12s, 3m05s, 2h10m.
func shortDuration(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// passing are reasons that every step has for a moment. They are worth a line only when they last.
var passing = []reason.Code{reason.Requesting, reason.Unscheduled, reason.Volumes, reason.Initializing, reason.Starting}

// lasting is how long that is.
const lasting = 3 * time.Second

// plainView writes a line for whatever happens, with logs between them.
type plainView struct {
	mu     sync.Mutex
	out    io.Writer
	last   map[string]int64 // number of each step's last event
	closed bool
	*lines
}

func newPlainView(out io.Writer, l *lines) *plainView {
	return &plainView{out: out, last: map[string]int64{}, lines: l}
}

func (v *plainView) event(e store.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Kind == run.KindStep {
		v.last[e.Step] = e.Number
	}
	text := v.line(e)
	switch {
	case text == "":
	case slices.Contains(passing, e.Reason) && !run.StepStatus(e.Status).Ended():
		time.AfterFunc(lasting, func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			if v.last[e.Step] == e.Number && !v.closed {
				fmt.Fprintln(v.out, text)
			}
		})
	default:
		fmt.Fprintln(v.out, text)
	}
}

func (v *plainView) log(step, line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintln(v.out, v.logLine(step, line))
}

func (l *lines) logLine(step, line string) string {
	return fmt.Sprintf("%s %s", l.paint(dim, fmt.Sprintf("%-*s  %-*s |", len("15:04:05"), "", l.width, l.name(step))), line)
}

func (v *plainView) note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.out, "berth: "+format+"\n", args...)
}

func (v *plainView) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
}
