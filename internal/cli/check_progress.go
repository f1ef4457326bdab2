package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress says on a terminal what is being waited for, once it has taken a while.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	timer *time.Timer // nil where nobody looks
	text  string
	shown bool
}

// unworried is how long one waits without wondering.
const unworried = 2 * time.Second

func newProgress(w io.Writer) *progress { return startProgress(w, isTerminal(w)) }

func startProgress(w io.Writer, seen bool) *progress {
	p := &progress{w: w}
	if seen {
		p.timer = time.AfterFunc(unworried, p.show)
	}
	return p
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.shown = true
	p.write()
}

// write replaces the line.
func (p *progress) write() { fmt.Fprintf(p.w, "\r\x1b[K%s", p.text) }

// say says what is being done now.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = fmt.Sprintf(format, args...)
	if p.shown {
		p.write()
	}
}

// end takes the line away. It may be called twice.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return
	}
	p.timer.Stop()
	p.timer = nil
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
	}
	p.shown = false
}
