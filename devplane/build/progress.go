package main

import (
	"fmt"
	"strings"
	"time"
)

// progress is what the go command has said so far.
type progress struct {
	module   module
	packages map[string]bool // all that the programs consist of; nil until they are listed
	modules  int             // downloaded
	compiled int             // begun, to be exact; what Go's build cache has is never begun
	linking  bool
	other    []string // lines of the go command that are no progress: complaints
}

// line takes one line of stderr of go list, or of go build -v, which names each package when it
// begins to compile it, and says nothing when it links.
func (p *progress) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		p.modules++
	case p.packages[line]:
		p.compiled++
		p.linking = p.linking || line == p.module.path // it depends on all others
	case line != "":
		p.other = append(p.other, line)
	}
}

// status is one line on where the build is.
func (p *progress) status(elapsed time.Duration) string {
	took := elapsed.Round(time.Second)
	switch {
	case p.packages == nil && p.modules == 0:
		return fmt.Sprintf("listing packages, %v", took)
	case p.packages == nil:
		return fmt.Sprintf("downloading modules: %d so far, %v", p.modules, took)
	case p.linking:
		return fmt.Sprintf("all compiled, linking, %v", took)
	case p.compiled == 0:
		return fmt.Sprintf("looking for what is compiled already, %v", took)
	default:
		// Not every package need be compiled, and how many is known to the go command alone.
		return fmt.Sprintf("%d of at most %d packages compiled, %v", p.compiled, len(p.packages), took)
	}
}

// heading says what is going on, and why it is worth waiting for.
func (p *progress) heading() string {
	return fmt.Sprintf("compiling Kubernetes %s from source (first time only; later starts take seconds)", p.module.kubernetes)
}

// failure explains an end of the go command that was none of ours.
func (p *progress) failure(err error, cacheDir, goCache string) error {
	complaints := strings.Join(p.other, "\n")
	if strings.Contains(complaints, "no space left on device") {
		return fmt.Errorf("a disk is full: make room, or build elsewhere with BERTH_CACHE (now in %s), GOCACHE (now %s) and GOTMPDIR; the go command said:\n%s",
			cacheDir, goCache, complaints)
	}
	return fmt.Errorf("the go command failed (%w); it said:\n%s", err, complaints)
}
