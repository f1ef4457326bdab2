package kube

import (
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
	"github.com/berthdev/berth/test/cluster"
)

// The API server is killed while steps run and others are being created, and then forgets what watches were
// from: every step is carried out once, and how it ended is seen.
func TestServerDies(t *testing.T) {
	t.Parallel()
	c := cluster.New(t, "testdata/server-dies.yaml")
	r := &rig{Cluster: c, t: t, clients: clients(t, c.Config)}
	r.begin(c.Namespace(t), "01TEST00000000000000000000")
	var all []executor.Attempt
	start := func(n int) {
		for range n {
			a := attempt1(t, "process", `outputs: [a], run: "sleep 1; echo a=1 > $BERTH_OUTPUT"`)
			all = append(all, a)
			r.Start(a)
		}
	}
	start(5)
	r.untilPhase(all[0].Ref, run.PhaseRunning)
	start(5)
	c.Devplane(t, "fault", "kill", "apiserver")
	start(5)
	r.untilPhase(all[len(all)-1].Ref, run.PhaseEnded)
	start(5)
	c.Devplane(t, "fault", "compact")
	for _, a := range all {
		o := r.untilPhase(a.Ref, run.PhaseEnded)
		if o.End == nil || o.End.Class != run.Success || o.End.Output != "a=1\n" {
			t.Errorf("%+v: ended %+v, refused %+v", o, o.End, o.Refused)
		}
		r.Stop(executor.Stop{Ref: a.Ref})
	}
	for _, a := range all {
		r.untilPhase(a.Ref, run.PhaseGone)
	}
	ids := map[run.Ref]map[string]bool{}
	for ref, seen := range r.seen {
		ids[ref] = map[string]bool{}
		for _, o := range seen {
			if o.ID != "" {
				ids[ref][o.ID] = true
			}
		}
		if len(ids[ref]) != 1 {
			t.Errorf("%v had the pods %v", ref, ids[ref])
		}
	}
	r.lawful()
}
