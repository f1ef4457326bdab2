package executortest

import (
	"context"
	"math/rand/v2"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// session is one Run. It ends with its context: nothing that was held back then is ever reported.
type session struct {
	ctx      context.Context
	reporter executor.Reporter
	failed   chan error
	synced   bool // Run has told it, or would have if nothing were held back
	told     bool // it was delivered
	letters  []letter
	gone     map[run.Ref]bool // delivered
	first    map[string]run.Observation
}

// letter is an observation, or the word that all there was has been observed.
type letter struct {
	run.Observation
	synced bool
}

// Hold holds observations back until Release.
func (s *Scripted) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
}

// Release lets out what was held back. With chance it is mixed: those of one object stay in order. Synced
// stays behind what was there before it.
func (s *Scripted) Release(chance *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = false
	if s.now == nil {
		return
	}
	letters := s.now.letters
	s.now.letters = nil
	for len(letters) > 0 {
		i := 0
		if chance != nil {
			i = mixed(letters, chance)
		}
		s.deliver(letters[i])
		letters = append(letters[:i:i], letters[i+1:]...)
	}
}

// mixed picks a letter that may come next.
func mixed(letters []letter, chance *rand.Rand) int {
	var may []int
	for i, l := range letters {
		if l.synced && i > 0 {
			break // what comes after it may not overtake it either
		}
		first := true
		for _, before := range letters[:i] {
			first = first && before.Ref != l.Ref
		}
		if first {
			may = append(may, i)
		}
		if l.synced {
			break
		}
	}
	return may[chance.IntN(len(may))]
}

// Echo has each observation followed by the first one of its object, which comes for a second time then.
func (s *Scripted) Echo(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.echo = on
}

// tell reports how an attempt is. s.mu is held.
func (s *Scripted) tell(o run.Observation) { s.send(letter{Observation: o}) }

func (s *Scripted) send(l letter) {
	switch {
	case s.now == nil || s.now.ctx.Err() != nil:
	case s.held:
		s.now.letters = append(s.now.letters, l)
	default:
		s.deliver(l)
	}
}

func (s *Scripted) deliver(l letter) {
	now := s.now
	if now.ctx.Err() != nil {
		return
	}
	if l.synced {
		now.told = true
		now.reporter.Synced()
		return
	}
	now.reporter.Observe(l.Observation)
	if l.Phase == run.PhaseGone {
		now.gone[l.Ref] = true
	}
	if now.first == nil {
		now.first = map[string]run.Observation{}
	}
	id := l.Step + l.ID
	first, known := now.first[id]
	if !known {
		now.first[id] = l.Observation
	} else if s.echo {
		now.reporter.Observe(first)
	}
}
