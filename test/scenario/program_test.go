package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

// program is a berth that runs, and what it has said so far.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has

	mu      sync.Mutex
	said    bytes.Buffer  // both of its outputs
	changed chan struct{} // closed at each change, and made anew
}

// launch starts a berth.
func launch(args []string, dir string, env []string) (*program, error) {
	return launchAs("berth", args, dir, env)
}

func launchAs(name string, args []string, dir string, env []string) (*program, error) {
	p := &program{cmd: exec.Command(name, args...), ended: make(chan struct{}), changed: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = p, p, dir
	p.cmd.Env = append(os.Environ(), append(env, "BERTH_OPERATOR=")...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.changed)
	p.changed = make(chan struct{})
	return p.said.Write(b)
}

func (p *program) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// events are what it has printed with -o json.
func (p *program) events() []run.Entry {
	var all []run.Entry
	for line := range strings.Lines(p.String()) {
		var e run.Entry
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// until waits for what holds of the output.
func (p *program) until(what string, holds func() bool) error {
	late := time.NewTimer(cluster.Limit)
	defer late.Stop()
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-p.ended:
			if holds() {
				return nil
			}
			return fmt.Errorf("it ended, and never %s:\n%s", what, p)
		case <-late.C:
			return fmt.Errorf("not within %s: %s:\n%s", cluster.Limit, what, p)
		}
	}
}

// happens waits for an event of a step (or of the run, as "run") with this status, reason or class, and with such a
// message.
func (p *program) happens(step, word string, message *regexp.Regexp) error {
	return p.until(step+" "+word, func() bool {
		return slices.ContainsFunc(p.events(), func(e run.Entry) bool {
			of := e.Step
			if e.Kind == run.KindRun {
				of = "run"
			}
			return of == step && (e.Status == word || string(e.Reason) == word || string(e.Class) == word) && message.MatchString(e.Message)
		})
	})
}

// wait gives the exit code.
func (p *program) wait() (int, error) {
	late := time.NewTimer(2 * cluster.Limit)
	defer late.Stop()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-late.C:
		return 0, fmt.Errorf("it has not ended within %s:\n%s", 2*cluster.Limit, p)
	}
}

// kill ends it, if it has not ended.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// ask runs a berth that answers, and gives what it says.
func ask(args ...string) ([]byte, error) {
	out, err := exec.Command("berth", args...).Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = fmt.Errorf("berth %s: %w\n%s", strings.Join(args, " "), err, ended.Stderr)
	}
	return out, err
}
