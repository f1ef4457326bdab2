package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// display shows progress to people: on a terminal in one line that changes, else with a line
// every ten seconds.
type display struct {
	w        io.Writer
	terminal bool
	begun    time.Time
	stop     chan struct{}
	stopped  sync.WaitGroup

	mu       sync.Mutex
	progress *progress
}

func newDisplay(w io.Writer, p *progress) *display {
	d := &display{w: w, progress: p, begun: time.Now(), stop: make(chan struct{})}
	every := 10 * time.Second
	if d.terminal = isTerminal(w); d.terminal {
		every = time.Second
	}
	fmt.Fprintf(w, "devplane: %s\n", p.heading())
	d.stopped.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.show()
			case <-d.stop:
				return
			}
		}
	})
	return d
}

func (d *display) show() {
	d.mu.Lock()
	defer d.mu.Unlock()
	status := "devplane: " + d.progress.status(time.Since(d.begun))
	if d.terminal {
		fmt.Fprintf(d.w, "\r\x1b[K%s", status)
	} else {
		fmt.Fprintln(d.w, status)
	}
}

// update changes the progress while it is not being shown.
func (d *display) update(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

// close ends the showing. Built programs get a last line.
func (d *display) close(built bool) {
	close(d.stop)
	d.stopped.Wait()
	if d.terminal {
		fmt.Fprint(d.w, "\r\x1b[K")
	}
	if built {
		fmt.Fprintf(d.w, "devplane: built in %v\n", time.Since(d.begun).Round(100*time.Millisecond))
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
