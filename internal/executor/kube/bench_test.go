//go:build unix

package kube

import (
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// BenchmarkSteps runs 500 steps of 1 s at once on nodes where pods only pass time, from the first Start until
// all have ended and are gone. cpu is what this process, all of the executor in it, used for a step.
func BenchmarkSteps(b *testing.B) {
	const steps = 500
	c := shared.Get(b)
	for b.Loop() {
		b.StopTimer()
		r := &rig{Cluster: c, t: b, clients: clients(b, c.Config)}
		r.begin(c.Namespace(b), newRun())
		all := make([]executor.Attempt, steps)
		first := attempt1(b, "scale", `run: "true"`)
		for i := range all {
			all[i] = first
			all[i].Run = newRun()
		}
		before := cpu()
		b.StartTimer()
		began := time.Now()
		for _, a := range all {
			r.Start(a)
		}
		for _, a := range all {
			r.untilPhase(a.Ref, run.PhaseEnded)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/ended")
		for _, a := range all {
			r.Stop(executor.Stop{Ref: a.Ref})
		}
		for _, a := range all {
			r.untilPhase(a.Ref, run.PhaseGone)
		}
		b.ReportMetric(float64((cpu()-before).Microseconds())/steps/1000, "ms-cpu/step")
	}
}

// cpu is what this process has used of it.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
