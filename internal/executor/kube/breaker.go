package kube

import (
	"math/rand/v2"
	"time"
)

// breaker keeps creates back while the namespace's quota has no room. One of them asks from time to time,
// with pauses from 1 s to 30 s, or soon when a pod of this instance has ended; while they get through, the
// others follow: one for each pod that has ended, and beyond that as many at a time as got through in a row.
// It belongs to the executor's lock.
type breaker struct {
	open    bool
	parked  []*attempt // in the order in which they were kept back
	out     int        // released, and not answered yet
	credits int        // pods that have ended since, and whose room is not used again yet
	streak  int        // creates in a row that got through without a credit
	pause   time.Duration
	timer   *time.Timer

	release func(*attempt)
	later   func(time.Duration) *time.Timer
}

const (
	quotaPause     = time.Second
	quotaPauseSoon = 250 * time.Millisecond // the cluster's quota controller takes a moment to count again
	quotaPauseMax  = 30 * time.Second
)

// admits says whether an attempt may be created now. If not, it is released later.
func (b *breaker) admits(a *attempt) bool {
	if !b.open || a.probe {
		return true
	}
	b.park(a)
	return false
}

func (b *breaker) park(a *attempt) {
	if !a.parked {
		a.parked = true
		b.parked = append(b.parked, a)
	}
}

// full says that the quota had no room for an attempt.
func (b *breaker) full(a *attempt) {
	switch {
	case !b.open:
		b.open, b.pause, b.credits, b.streak = true, quotaPause, 0, 0
	case a.probe:
		b.pause, b.streak = min(2*b.pause, quotaPauseMax), 0
	}
	b.answered(a)
	b.park(a)
	b.arm()
}

// through says that an attempt's create was accepted.
func (b *breaker) through(a *attempt) {
	if !a.probe {
		return
	}
	b.answered(a)
	if b.credits > 0 {
		b.credits--
	} else {
		b.streak++
	}
	b.pause = quotaPause
	b.next()
}

// drop says that an attempt will not be created: it says nothing of the quota.
func (b *breaker) drop(a *attempt) {
	if a.probe {
		b.answered(a)
		b.next()
	}
}

func (b *breaker) answered(a *attempt) {
	if a.probe {
		a.probe = false
		b.out--
	}
}

// freed says that a pod has ended.
func (b *breaker) freed() {
	if !b.open {
		return
	}
	b.credits = min(b.credits+1, len(b.parked))
	b.pause = quotaPauseSoon
	b.arm()
}

// next lets those go that may follow.
func (b *breaker) next() {
	most := b.streak
	if b.credits > 0 {
		most = max(most, 1)
	}
	for b.out < most && b.one() {
	}
	if b.out == 0 {
		b.arm()
	}
}

// one releases the first that still wants to be created.
func (b *breaker) one() bool {
	for len(b.parked) > 0 {
		a := b.parked[0]
		b.parked[0], b.parked = nil, b.parked[1:]
		a.parked = false
		if a.job == nil {
			continue
		}
		a.probe = true
		b.out++
		b.release(a)
		return true
	}
	return false
}

// arm sets the pause until the next probe, or ends it all if nobody waits.
func (b *breaker) arm() {
	if b.timer != nil {
		b.timer.Stop()
	}
	if b.out > 0 {
		return
	}
	if len(b.parked) == 0 {
		b.open = false
		return
	}
	b.timer = b.later(b.pause*3/4 + rand.N(b.pause/2))
}

// fire is called when the pause is over.
func (b *breaker) fire() {
	if b.open && b.out == 0 && !b.one() {
		b.open = false
	}
}
