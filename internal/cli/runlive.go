package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/internal/store"
)

// liveView is plainView on a terminal: below the lines it keeps a block that says, for each step which is
// under way, how it is now and for how long.
type liveView struct {
	mu    sync.Mutex
	out   *os.File
	drawn int // lines of the block on the screen
	order []string
	now   map[string]*liveStep // by ID
	done  chan struct{}
	end   sync.Once
	*lines
}

type liveStep struct {
	status run.StepStatus
	since  time.Time
	text   string
}

// mostLive is how many steps the block has; the rest are counted.
const mostLive = 10

func newLiveView(out *os.File, order []string, l *lines) *liveView {
	v := &liveView{out: out, order: order, now: map[string]*liveStep{}, done: make(chan struct{}), lines: l}
	go v.clock()
	return v
}

func (v *liveView) clock() {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			v.print("")
		case <-v.done:
			return
		}
	}
}

func (v *liveView) event(e store.Event) {
	v.mu.Lock()
	text := v.line(e)
	if e.Kind == "step" {
		s := &liveStep{status: run.StepStatus(e.Status), since: e.At, text: e.Message + placeText(e.Place)}
		if s.status == run.StepRunning && s.text == "" {
			s.text = v.nodes[e.Step]
		}
		v.now[e.Step] = s
		if slices.Contains(passing, e.Reason) && !s.status.Ended() {
			text = "" // the block has it
		}
	}
	v.mu.Unlock()
	v.print(text)
}

func (v *liveView) log(step, line string) { v.print(v.logLine(step, line)) }

func (v *liveView) note(format string, args ...any) {
	v.print("berth: " + fmt.Sprintf(format, args...))
}

func (v *liveView) close() {
	v.end.Do(func() {
		close(v.done)
		v.mu.Lock()
		defer v.mu.Unlock()
		io.WriteString(v.out, v.erase())
	})
}

// print writes a line above the block, and draws the block anew.
func (v *liveView) print(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.done:
		if text != "" {
			fmt.Fprintln(v.out, text)
		}
		return
	default:
	}
	var b strings.Builder
	b.WriteString(v.erase())
	if text != "" {
		b.WriteString(text + "\n")
	}
	block := v.block()
	for _, line := range block {
		b.WriteString(line + "\n")
	}
	v.drawn = len(block)
	io.WriteString(v.out, b.String())
}

// erase takes the block off the screen.
func (v *liveView) erase() string {
	if v.drawn == 0 {
		return ""
	}
	n := v.drawn
	v.drawn = 0
	return fmt.Sprintf("\x1b[%dA\x1b[J", n)
}

func (v *liveView) block() []string {
	width, height, err := term.GetSize(int(v.out.Fd()))
	if err != nil || width < 20 {
		width, height = 80, 24
	}
	most := max(1, min(mostLive, height-4))
	var active, waiting []string
	ended := 0
	for _, id := range v.order {
		s := v.now[id]
		switch {
		case s == nil:
		case s.status.Ended():
			ended++
		case s.status == run.StepRunning:
			active = append(active, id)
		case s.status == run.StepStarting || s.status == run.StepReady:
			waiting = append(waiting, id)
		}
	}
	ids := append(active, waiting...)
	if len(ids) == 0 {
		return nil
	}
	block := []string{v.paint(dim, strings.Repeat("─", min(width-1, 60)))}
	for i, id := range ids {
		if i == most {
			block = append(block, v.paint(dim, fmt.Sprintf("and %d more", len(ids)-most)))
			break
		}
		block = append(block, v.row(id, width))
	}
	return append(block, v.paint(dim, fmt.Sprintf("%d of %d steps have ended", ended, len(v.order))))
}

func (v *liveView) row(id string, width int) string {
	s := v.now[id]
	elapsed := shortDuration(time.Since(s.since).Truncate(time.Second))
	if d := time.Since(s.since); d < 10*time.Second {
		elapsed = fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	}
	text := finding.Clip(fmt.Sprintf("%-*s  %-8s  %6s  %s", v.width, v.name(id), s.status, elapsed, s.text), width-1)
	colour := yellow
	if s.status == run.StepRunning {
		colour = cyan
	}
	return v.paint(colour, text)
}
