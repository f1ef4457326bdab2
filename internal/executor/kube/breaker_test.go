package kube

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// Whatever a quota does, as long as it has room in the end, every attempt gets through; only one asks while
// nothing is known of the room; and nothing is released that is not parked.
func TestBreaker(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 5).Draw(t, "room")
		n := rapid.IntRange(1, 30).Draw(t, "attempts")
		var queue []*attempt
		armed := false
		var b breaker
		b.release = func(a *attempt) {
			if queue = append(queue, a); b.out > max(1, b.streak) {
				t.Fatalf("%d ask at once, and %d got through in a row", b.out, b.streak)
			}
		}
		b.later = func(d time.Duration) *time.Timer {
			if d <= 0 || d > 45*time.Second {
				t.Fatalf("a pause of %s", d)
			}
			armed = true
			return time.NewTimer(time.Hour)
		}
		for i := range n {
			queue = append(queue, &attempt{ref: run.Ref{Attempt: i}, job: &executor.Attempt{}})
		}
		running, through := 0, 0
		for steps := 0; through < n; steps++ {
			if steps > 10000 {
				t.Fatalf("%d of %d got through; open %v, out %d, parked %d, armed %v", through, n, b.open, b.out, len(b.parked), armed)
			}
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0: // a worker
				if len(queue) == 0 {
					continue
				}
				a := queue[0]
				queue = queue[1:]
				switch {
				case !b.admits(a):
				case rapid.IntRange(0, 9).Draw(t, "cancelled") == 0:
					a.job = nil
					b.drop(a)
					through++
				case running < room:
					running++
					through++
					a.job = nil
					b.through(a)
				default:
					b.full(a)
				}
			case 1: // a pod ends, or the quota is raised
				if running > 0 {
					running--
					b.freed()
				} else if room == 0 {
					room++
				}
			case 2: // time
				if armed {
					armed = false
					b.fire()
				}
			}
		}
		if b.out != 0 {
			t.Fatalf("%d are waited for", b.out)
		}
	})
}
