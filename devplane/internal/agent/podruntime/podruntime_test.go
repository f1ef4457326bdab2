package podruntime

import (
	"testing"
	"testing/synctest"
	"time"
)

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		name   string
		graces []time.Duration // one second apart
		killed time.Duration   // after the first
	}{
		{"one", []time.Duration{30 * time.Second}, 30 * time.Second},
		{"shortened", []time.Duration{30 * time.Second, 5 * time.Second}, 6 * time.Second},
		{"never lengthened", []time.Duration{5 * time.Second, 30 * time.Second}, 5 * time.Second},
		{"at once", []time.Duration{30 * time.Second, 0}, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctl := NewControl(nil, nil)
				defer ctl.Release()
				if closed(ctl.Stopping()) || ctl.Grace() != 0 {
					t.Fatal("it is stopping before the first stop")
				}
				begun := time.Now()
				for i, g := range c.graces {
					if i > 0 {
						time.Sleep(time.Second)
					}
					ctl.Stop(g)
				}
				if !closed(ctl.Stopping()) {
					t.Error("it is not stopping")
				}
				<-ctl.Killing()
				if got := time.Since(begun); got != c.killed || ctl.Grace() != 0 {
					t.Errorf("killed after %v, %v left; want %v, 0", got, ctl.Grace(), c.killed)
				}
				ctl.Stop(0) // again is no harm
			})
		})
	}
}
