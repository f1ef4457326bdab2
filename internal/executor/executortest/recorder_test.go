package executortest

import (
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// A history tells of each order of observations that the protocol does not allow, and of no other.
func TestHistory(t *testing.T) {
	t1, t2 := time.Unix(1, 0), time.Unix(2, 0)
	good, bad := ended(run.End{FinishedAt: t2}), ended(failed(1))
	at := func(id string, phase run.Phase, change ...func(*run.Observation)) run.Observation {
		o := run.Observation{Ref: run.Ref{Run: "r", Step: "s", Attempt: 1}, ID: id, Phase: phase, Fence: 1}
		if phase == run.PhaseRunning || phase == run.PhaseEnded {
			o.StartedAt = t1
		}
		if phase == run.PhaseEnded {
			o.End = &good
		}
		for _, c := range change {
			c(&o)
		}
		return o
	}
	refused := &run.Outcome{Class: run.NeverStarted, Reason: reason.PodInvalid}
	for name, test := range map[string]struct {
		all  []run.Observation
		want string
	}{
		"a life": {[]run.Observation{at("", run.PhaseWaiting), at("a", run.PhaseWaiting), at("a", run.PhaseWaiting), at("a", run.PhaseRunning),
			at("a", run.PhaseEnded), at("a", run.PhaseGone), at("a", run.PhaseGone)}, ""},
		"refused":       {[]run.Observation{at("", run.PhaseWaiting), at("", run.PhaseGone, func(o *run.Observation) { o.Refused = refused })}, ""},
		"gone at once":  {[]run.Observation{at("", run.PhaseGone)}, ""},
		"another one":   {[]run.Observation{at("a", run.PhaseRunning), at("b", run.PhaseGone), at("a", run.PhaseRunning)}, ""},
		"new fence":     {[]run.Observation{at("", run.PhaseWaiting), at("", run.PhaseWaiting, func(o *run.Observation) { o.Fence = 2 })}, ""},
		"no phase":      {[]run.Observation{at("a", "")}, "phase"},
		"back":          {[]run.Observation{at("a", run.PhaseEnded), at("a", run.PhaseRunning)}, "running after ended"},
		"after gone":    {[]run.Observation{at("a", run.PhaseGone), at("a", run.PhaseEnded)}, "ended after gone"},
		"ended how":     {[]run.Observation{at("a", run.PhaseEnded, func(o *run.Observation) { o.End = nil })}, "nothing says how"},
		"end too early": {[]run.Observation{at("a", run.PhaseRunning, func(o *run.Observation) { o.End = &good })}, "an end in phase running"},
		"another end": {[]run.Observation{at("a", run.PhaseEnded), at("a", run.PhaseGone, func(o *run.Observation) { o.End = &bad })},
			"it ended as"},
		"two objects": {[]run.Observation{at("a", run.PhaseRunning), at("b", run.PhaseWaiting)}, "another object"},
		"refused, and there": {[]run.Observation{at("a", run.PhaseGone, func(o *run.Observation) { o.Refused = refused })},
			"refused"},
		"no ID":         {[]run.Observation{at("", run.PhaseRunning)}, "without an ID"},
		"other fence":   {[]run.Observation{at("a", run.PhaseRunning), at("a", run.PhaseRunning, func(o *run.Observation) { o.Fence = 2 })}, "fence 2"},
		"since when":    {[]run.Observation{at("a", run.PhaseRunning, func(o *run.Observation) { o.StartedAt = time.Time{} })}, "since when"},
		"started again": {[]run.Observation{at("a", run.PhaseRunning), at("a", run.PhaseRunning, func(o *run.Observation) { o.StartedAt = t2 })}, "started at"},
		"not deleted any more": {[]run.Observation{at("a", run.PhaseRunning, func(o *run.Observation) { o.DeletionAt = t1 }), at("a", run.PhaseRunning)},
			"deleted at"},
		"other node": {[]run.Observation{at("a", run.PhaseRunning, func(o *run.Observation) { o.Node = "n" }), at("a", run.PhaseRunning)}, "and before that on n"},
		"waits when it runs": {[]run.Observation{at("a", run.PhaseRunning, func(o *run.Observation) {
			o.Waiting = &run.Waiting{Reason: reason.Starting, Message: "m"}
		})}, "waiting, in phase running"},
		"waits for nothing": {[]run.Observation{at("a", run.PhaseWaiting, func(o *run.Observation) { o.Waiting = &run.Waiting{} })}, "without a reason"},
	} {
		t.Run(name, func(t *testing.T) {
			var h history
			var wrong []string
			for _, o := range test.all {
				wrong = append(wrong, h.add(o)...)
			}
			all := strings.Join(wrong, "\n")
			if test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("want %q, got:\n%s", test.want, all)
			}
		})
	}
}
