// Package supervise keeps the parts of a devplane running: one process each.
//
// A part is wanted or not. A wanted part that ends by itself is started again, as a static pod
// would be; one that ends again and again, or before the devplane was ready for the first time,
// is a failure that ends the devplane with the part's own last words. A part that a fault killed
// stays down until it is wanted again.
//
//	         Start               process ended, wanted: again
//	down ------------> running ------------------------------> running
//	 ^                  |  ^ |
//	 |   Kill, Stop     |  | | Pause
//	 +------------------+  | v
//	                     paused
package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/berthdev/berth/devplane/internal/proc"
)

// Spec says how a part is run.
type Spec struct {
	Name string
	Proc proc.Spec // Out is ignored: output goes to Log
	Log  string    // file, appended to
	// Grace is how long an orderly stop may take before SIGKILL.
	Grace time.Duration
}

// State is where a part is in the diagram above.
type State string

// The states of a part.
const (
	Down    State = "down"
	Running State = "running"
	Paused  State = "paused"
)

// Status is a part as `devplane status` shows it.
type Status struct {
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Pid      int       `json:"pid,omitempty"`
	Since    time.Time `json:"since"`
	Restarts int       `json:"restarts"`         // starts after the first
	Memory   int64     `json:"memory,omitempty"` // resident bytes
	Log      string    `json:"log"`
}

// Part is a supervised process. Its methods are safe for concurrent use.
type Part struct {
	spec Spec
	// event is told, in one sentence, of each end that nobody asked for.
	event func(string)

	mu       sync.Mutex
	wanted   bool
	state    State
	since    time.Time
	process  *proc.Process
	starts   int
	failures []time.Time // recent unasked ends, oldest first
	settled  bool        // the devplane was ready once
	closed   bool        // the devplane is going down
	failed   chan error
	onFail   func(error)
	idle     chan struct{} // closed when no process runs and its end was dealt with
}

// New returns a part that is down. Unasked ends are told to event.
func New(spec Spec, event func(string)) *Part {
	idle := make(chan struct{})
	close(idle)
	return &Part{spec: spec, event: event, state: Down, since: time.Now(), failed: make(chan error, 1), idle: idle}
}

// Name is the part's name.
func (p *Part) Name() string { return p.spec.Name }

// OnFail sets what is called, besides what WaitFailed returns, when the part can't be kept running. Call it before
// the first Start.
func (p *Part) OnFail(f func(error)) { p.onFail = f }

func (p *Part) fail(err error) {
	p.failed <- err
	if p.onFail != nil {
		p.onFail(err)
	}
}

// Settle says that the devplane is ready: from here on a part that ends is started again.
func (p *Part) Settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = true
}

// Start makes the part wanted and starts it if it is down.
func (p *Part) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return fmt.Errorf("%s: the devplane is going down", p.spec.Name)
	case p.state == Paused:
		return fmt.Errorf("%s is paused: resume it", p.spec.Name)
	}
	p.wanted = true
	if p.process != nil {
		return nil
	}
	return p.start()
}

// Close makes the part's next end its last, and lets a paused one go on, so that it can be
// stopped in order. It goes on running.
func (p *Part) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.Resume()
}

// start runs with p.mu held and no process.
func (p *Part) start() error {
	log, err := os.OpenFile(p.spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the child has its own descriptor
	spec := p.spec.Proc
	spec.Out = log
	process, err := proc.Start(spec)
	if err != nil {
		return fmt.Errorf("start %s: %w", p.spec.Name, err)
	}
	p.process, p.idle = process, make(chan struct{})
	p.starts++
	p.enter(Running)
	go p.watch(process, p.idle)
	return nil
}

func (p *Part) enter(s State) { p.state, p.since = s, time.Now() }

// watch waits for the process to end and decides what then.
func (p *Part) watch(process *proc.Process, idle chan struct{}) {
	<-process.Done()
	p.mu.Lock()
	p.process = nil
	p.enter(Down)
	close(idle)
	if !p.wanted || p.closed {
		p.mu.Unlock()
		return
	}
	now := time.Now()
	p.failures = append(recent(p.failures, now), now)
	wait, give := verdict(len(p.failures), p.settled)
	p.mu.Unlock()

	if give {
		p.fail(fmt.Errorf("%s ended: %s\n%s", p.spec.Name, cause(process.Err()), Tail(p.spec.Log, 12)))
		return
	}
	p.event(fmt.Sprintf("%s ended (%s); starting it again", p.spec.Name, cause(process.Err())))
	time.Sleep(wait)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted && !p.closed && p.process == nil {
		if err := p.start(); err != nil {
			p.fail(err)
		}
	}
}

const (
	// A part that waits ten seconds for another one that a fault holds down ends by that twice a
	// window; one that can't run ends most times within seconds.
	window = 20 * time.Second
	most   = 5
)

func recent(ends []time.Time, now time.Time) []time.Time {
	for len(ends) > 0 && now.Sub(ends[0]) > window {
		ends = ends[1:]
	}
	return ends
}

// verdict says what follows the n-th unasked end within the window: start again after a wait, or
// give up.
func verdict(n int, settled bool) (wait time.Duration, giveUp bool) {
	if !settled || n > most {
		return 0, true
	}
	return 100 * time.Millisecond << (n - 1), false
}

func cause(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// Kill ends the process with SIGKILL; the part stays down until Start. No error if it is down.
func (p *Part) Kill() { p.end((*proc.Process).Kill) }

// Stop ends the process in order, SIGTERM first; the part stays down until Start.
func (p *Part) Stop() {
	_ = p.Resume() // a paused process would never see the signal
	p.end(func(process *proc.Process) { process.Stop(p.spec.Grace) })
}

func (p *Part) end(end func(*proc.Process)) {
	p.mu.Lock()
	p.wanted = false
	process, idle := p.process, p.idle
	p.mu.Unlock()
	if process != nil {
		end(process)
	}
	<-idle
}

// Pause stops the process with SIGSTOP: its connections stay open and nothing answers.
func (p *Part) Pause() error { return p.signal(Running, syscall.SIGSTOP, Paused) }

// Resume lets a paused process go on. No error if it was not paused.
func (p *Part) Resume() error { return p.signal(Paused, syscall.SIGCONT, Running) }

func (p *Part) signal(from State, sig syscall.Signal, to State) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != from {
		if from == Running {
			return fmt.Errorf("%s is %s", p.spec.Name, p.state)
		}
		return nil
	}
	if err := p.process.Signal(sig); err != nil {
		return err
	}
	p.enter(to)
	return nil
}

// Status tells how the part is.
func (p *Part) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{Name: p.spec.Name, State: p.state, Since: p.since, Restarts: max(p.starts-1, 0), Log: p.spec.Log}
	if p.process != nil {
		s.Pid, s.Memory = p.process.Pid, proc.Memory(p.process.Pid)
	}
	return s
}

// WaitFailed returns the first failure among parts, or ctx's error.
func WaitFailed(ctx context.Context, parts []*Part) error {
	first := make(chan error, len(parts))
	for _, p := range parts {
		go func() {
			select {
			case err := <-p.failed:
				first <- err
			case <-ctx.Done():
			}
		}()
	}
	select {
	case err := <-first:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Tail returns the last n lines of a file, for an error message.
func Tail(path string, n int) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || len(data) == 0 {
		return "(" + path + " is empty)"
	} else if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return path + ":\n  " + strings.Join(lines, "\n  ")
}
